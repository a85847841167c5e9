import NIOCore
import Support

/// The system's own detection of dead peers, for those that do not answer pings: keep-alive probes while the connection
/// is idle, and a timeout for unacknowledged data.
enum TCPWatch {
    /// - Parameter limits: the probes use those of the heartbeat. Without a heartbeat the system's defaults apply.
    static func options(_ limits: DeviceLimits) -> [(ChannelOptions.Types.SocketOption, Int)] {
        var options: [(ChannelOptions.Types.SocketOption, Int)] = [(.socketOption(.so_keepalive), 1)]
        guard let interval = limits.heartbeatInterval, let silence = limits.maximumSilence else { return options }
        // The system refuses more: 32,767 s and 127 probes on Linux (MAX_TCP_KEEPIDLE and MAX_TCP_KEEPCNT of its tcp.h).
        let seconds = min(max(1, interval.components.seconds), 32_767)
        options.append((tcp(TCP_KEEPINTVL), Int(clamping: seconds)))
        let probes = min(max(1, silence.components.seconds / seconds - 1), 127)
        options.append((tcp(TCP_KEEPCNT), Int(clamping: probes)))
        #if canImport(Darwin)
        options.append((tcp(TCP_KEEPALIVE), Int(clamping: seconds)))
        #else
        options.append((tcp(TCP_KEEPIDLE), Int(clamping: seconds)))
        let milliseconds = min(TimeAmount(silence).nanoseconds / 1_000_000, Int64(Int32.max))
        options.append((userTimeout, Int(milliseconds)))
        #endif
        return options
    }

    /// Removes the timeout for unacknowledged data: from now on the heartbeat detects a dead peer.
    static func release(_ channel: any Channel) {
        #if !canImport(Darwin)
        channel.setOption(userTimeout, value: 0).whenFailure { _ in }
        #endif
    }

    private static func tcp(_ name: CInt) -> ChannelOptions.Types.SocketOption {
        ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
    }

    #if !canImport(Darwin)
    /// Milliseconds for which data may be unacknowledged, or a peer's window closed, before the connection is dropped.
    private static let userTimeout = tcp(CInt(TCP_USER_TIMEOUT))
    #endif
}
