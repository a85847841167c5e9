internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Support

/// A server's listening sockets. They accept no connections before ``accept()``.
struct Listeners: Sendable {
    let host: String
    let port: Int
    let address: IPAddress?
    private let channels: [KeptChannel]

    static func bind(
        _ options: WebServerOptions, _ core: NIOLoopBoundBox<ServerCore>, on eventLoop: any EventLoop, logger: Logger
    ) async throws -> Listeners {
        @Sendable func open(_ address: SocketAddress) async throws -> any Channel {
            try await bootstrap(core, options, eventLoop, logger).bind(to: address).get()
        }
        var channels: [any Channel] = []
        let host: String
        do {
            if options.acceptsOwnAddresses {
                channels = [try await ListeningAddress.bindToAll(port: options.port, open)]
            } else {
                channels = [try await open(ListeningAddress.find(options.host, port: options.port))]
            }
            host = channels[0].localAddress?.ipAddress ?? options.host
        } catch {
            throw explain(error, options)
        }
        let port = channels[0].localAddress?.port ?? options.port
        let address = channels[0].localAddress.flatMap { IPAddress($0) }
        // A browser tries ::1 first for localhost.
        if let twin = ["127.0.0.1": "::1", "::1": "127.0.0.1"][host] {
            do { channels.append(try await open(SocketAddress(ipAddress: twin, port: port))) } catch {
                logger.debug("cannot listen on the other loopback address", metadata: ["address": "\(host)"])
            }
        }
        let kept = channels.map { channel in
            KeptChannel(channel) { [address = channel.localAddress] in
                guard let address else { throw ChannelError.unknownLocalAddress }
                let channel = try await open(address)
                try await channel.setOption(.autoRead, value: true).get()
                return channel
            } tell: { event in
                eventLoop.execute { options.onListening(event, port) }
            }
        }
        return Listeners(host: host, port: port, address: address, channels: kept)
    }

    private static func bootstrap(
        _ core: NIOLoopBoundBox<ServerCore>, _ options: WebServerOptions, _ eventLoop: any EventLoop, _ logger: Logger
    ) -> ServerBootstrap {
        let high = max(options.limits.outboundHighWatermark, 2)
        return ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.autoRead, value: false)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPauseHandler(logger: logger))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            // Data that the system buffers unsent becomes stale: on a slow link by seconds.
            .childChannelOption(.tcpOption(.init(rawValue: Self.unsentLimitOption)), value: 64 << 10)
            .childChannelOption(
                .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: high / 2, high: high)
            )
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16_384))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try core.value.receive(channel) }
            }
    }

    /// TCP_NOTSENT_LOWAT of linux/tcp.h and netinet/tcp.h, which is missing in some C libraries' modules.
    private static var unsentLimitOption: CInt {
        #if os(Linux)
        25
        #else
        0x201
        #endif
    }

    func accept() async {
        for channel in channels { try? await channel.channel.setOption(.autoRead, value: true).get() }
    }

    func close() async { for channel in channels { await channel.close() } }

    private static func explain(_ error: any Error, _ options: WebServerOptions) -> WebServerError {
        let port = "port \(options.port)"
        let place = options.acceptsOwnAddresses ? port : "\(options.host), \(port)"
        let failure = ListeningFailure(error, place: place, port: port)
        let code: WebServerError.Code =
            switch failure.kind {
            case .taken: .portTaken
            case .notPermitted: .permissionDenied
            case .unknownAddress: .addressUnavailable
            case .invalidPort, .other: .other
            }
        return WebServerError(code, failure.message)
    }
}
