import NIOCore
import Support

/// The system's own detection of dead peers, for those that do not answer pings: keep-alive probes while the connection
/// is idle, and a timeout for unacknowledged data.
enum TCPWatch {
    /// The socket options that a bootstrap sets on a channel.
    ///
    /// - Parameters:
    ///   - interval: the time between two probes; `nil` for the system's.
    ///   - silence: how long a peer may be silent before it counts as dead; `nil` for the system's limit.
    static func options(interval: Duration?, silence: Duration?) -> [(
        option: ChannelOptions.Types.SocketOption, value: Int
    )] {
        var options: [(ChannelOptions.Types.SocketOption, Int)] = [(.socketOption(.so_keepalive), 1)]
        guard let interval, let silence else { return options }
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

    /// Leaves it to the heartbeat to detect a dead peer.
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
