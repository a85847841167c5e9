import NIOCore
import Support

/// The system's own watch over a connection, for peers that answer no pings: probes while it is quiet, and an end to
/// waiting for data to be acknowledged.
enum TCPWatch {
    /// What a bootstrap sets on a channel's socket.
    static func options(_ limits: DeviceLimits) -> [(option: ChannelOptions.Types.SocketOption, value: Int)] {
        var options: [(ChannelOptions.Types.SocketOption, Int)] = [(.socketOption(.so_keepalive), 1)]
        guard let interval = limits.heartbeatInterval, let silence = limits.maximumSilence else { return options }
        let seconds = max(1, interval.components.seconds)
        options.append((tcp(TCP_KEEPINTVL), Int(clamping: seconds)))
        let probes = max(1, silence.components.seconds / seconds - 1)
        options.append((tcp(TCP_KEEPCNT), Int(clamping: probes)))
        #if canImport(Darwin)
        options.append((tcp(TCP_KEEPALIVE), Int(clamping: seconds)))
        #else
        options.append((tcp(TCP_KEEPIDLE), Int(clamping: seconds)))
        options.append((userTimeout, Int(clamping: TimeAmount(silence).nanoseconds / 1_000_000)))
        #endif
        return options
    }

    /// Leaves it to the heartbeat to tell whether the peer lives.
    static func release(_ channel: any Channel) {
        #if !canImport(Darwin)
        channel.setOption(userTimeout, value: 0).whenFailure { _ in }
        #endif
    }

    private static func tcp(_ name: CInt) -> ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
    }

    #if !canImport(Darwin)
    /// Milliseconds for which data may be unacknowledged, or a peer's window be shut, before the connection is given up.
    private static let userTimeout = tcp(CInt(TCP_USER_TIMEOUT))
    #endif
}
