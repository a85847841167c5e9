internal import NIOCore
internal import NIOPosix
internal import Support

/// The UDP sockets of a bridge: one for IPv4 and, if available, one for IPv6. A socket that the system closes is opened
/// again.
struct DatagramSockets: Sendable {
    let port: Int
    let channels: [KeptChannel]

    /// The smallest power of two above the maximum datagram.
    private static let receiveByteCount = 1 << 16
    private static let batchCount = 8

    /// - Parameter isOpen: whether other machines can reach the sockets.
    static func bind(
        port: Int, isOpen: Bool, on loop: any EventLoop,
        _ core: NIOLoopBound<BridgeCore>, tell: @escaping @Sendable (KeptChannel.Event) -> Void
    ) async throws(OSCBridgeError) -> DatagramSockets {
        @Sendable func open(_ host: String, _ port: Int) async throws -> any Channel {
            var bootstrap = DatagramBootstrap(group: loop)
            if host.contains(":") {
                let option = ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only)
                bootstrap = bootstrap.channelOption(option, value: 1)
            }
            return
                try await bootstrap
                .channelOption(
                    .recvAllocator,
                    value: FixedSizeRecvByteBufferAllocator(capacity: batchCount * receiveByteCount)
                )
                .channelOption(.datagramVectorReadMessageCount, value: batchCount)
                // Reads the rest in the loop's next turn, so that a flood leaves time for other work.
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
                .channelOption(.socketOption(.so_sndbuf), value: 1 << 20)
                .channelOption(
                    .writeBufferWaterMark, value: ChannelOptions.Types.WriteBufferWaterMark(low: 1 << 18, high: 1 << 20)
                )
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(DatagramHandler(core.value))
                    }
                }
                .bind(to: SocketAddress(ipAddress: host, port: port)).get()
        }
        do {
            let first = try await open(isOpen ? "0.0.0.0" : "127.0.0.1", port)
            let bound = first.localAddress?.port ?? port
            let second = try? await open(isOpen ? "::" : "::1", bound)
            let kept = ([first] + (second.map { [$0] } ?? [])).map { channel in
                KeptChannel(channel) { [host = channel.localAddress?.ipAddress ?? ""] in
                    let channel = try await open(host, bound)
                    try await loop.submit { core.value.surfaces.use(channel) }.get()
                    return channel
                } tell: { event in
                    tell(event)
                    if case .restored = event { loop.execute { core.value.socketIsWritable() } }
                }
            }
            return DatagramSockets(port: bound, channels: kept)
        } catch {
            let name = "UDP port \(port)"
            throw OSCBridgeError(ListeningFailure(error, place: name, port: name).message)
        }
    }

    func channel(to address: SocketAddress) -> (any Channel)? {
        channels.map(\.channel).first { $0.localAddress?.protocol == address.protocol }
    }

    func close() async {
        for channel in channels { await channel.close() }
    }
}

/// Passes received datagrams to the core, on the bridge's event loop.
final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let core: BridgeCore

    init(_ core: BridgeCore) { self.core = core }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = Self.unwrapInboundIn(data)
        core.receive(envelope.data, from: envelope.remoteAddress, context.channel)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { core.socketIsWritable() }
        context.fireChannelWritabilityChanged()
    }

    /// Ignores errors such as an ICMP answer of a host that no longer listens.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
