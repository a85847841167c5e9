import NIOCore
import NIOPosix
@preconcurrency import PeerSupport

/// SwiftNIO alone: one event loop at either end, frames like the framework's, nothing else but TLS if wanted.
@main
struct NIOPeer {
    static func main() throws {
        let options = peer_options(CommandLine.argc, CommandLine.unsafeArgv)
        switch options.command {
        case PEER_SERVE where !(options.sink && options.udp):
            peer_end_when_told()
            let channel = try server(options)
            peer_print_listening(Int32(channel.localAddress?.port ?? 0))
            try channel.closeFuture.wait()
        case PEER_LATENCY where options.udp:
            try datagramClient(options).closeFuture.wait()
        case PEER_LATENCY,
            PEER_THROUGHPUT where !options.udp:
            try client(options).closeFuture.wait()
        default:
            fail("measures round trips, and throughput over TCP")
        }
    }

    /// A server at 127.0.0.1 that sends back what arrives, or counts it.
    private static func server(_ options: PeerOptions) throws -> any Channel {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        if options.udp {
            return try DatagramBootstrap(group: group)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Echo()) }
                }
                .bind(host: "127.0.0.1", port: Int(options.port)).wait()
        }
        let tls = try options.identity.map { try TLS(identity: String(cString: $0)) }
        return try ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(tls.makeServerHandler()) }
                    try channel.pipeline.syncOperations.addHandler(options.sink ? Sink() : Echo())
                }
            }
            .bind(host: "127.0.0.1", port: Int(options.port)).wait()
    }

    private static func datagramClient(_ options: PeerOptions) throws -> any Channel {
        try DatagramBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(Envelopes(), RoundTrips(options))
                }
            }
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: Int(options.port))).wait()
    }

    /// A client whose handler measures, and closes the channel when it has done so.
    private static func client(_ options: PeerOptions) throws -> any Channel {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try SocketAddress(ipAddress: "127.0.0.1", port: Int(options.port))
        let tls = try options.identity.map { try TLS(identity: String(cString: $0)) }
        return try ClientBootstrap(group: group)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(tls.makeClientHandler()) }
                    try channel.pipeline.syncOperations.addHandler(measurement(options))
                }
            }
            .connect(to: server).wait()
    }

    private static func measurement(_ options: PeerOptions) -> any ChannelHandler {
        guard options.command == PEER_LATENCY else { return Flood(options) }
        return options.pace == PEER_PACE_CLOCK ? RoundTrips(options) : PacedRoundTrips(options)
    }
}
