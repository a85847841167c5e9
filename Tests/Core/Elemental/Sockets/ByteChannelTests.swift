import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Elemental

/// Connections whose bytes are changed between session and socket, as an encrypted connection's are.
struct ByteChannelTests {
    /// Changes every byte on its way out, and back on its way in.
    private final class Cipher: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.fireChannelRead(wrapInboundOut(change(unwrapInboundIn(data))))
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            context.write(wrapOutboundOut(change(unwrapOutboundIn(data))), promise: promise)
        }

        private func change(_ buffer: ByteBuffer) -> ByteBuffer {
            ByteBuffer(bytes: buffer.readableBytesView.map { $0 ^ 0x5a })
        }
    }

    private static func listen(
        _ service: ElementalService, on loop: any EventLoop
    ) async throws -> (any Channel, NIOLoopBound<ServiceServer>) {
        let server = try await loop.submit {
            NIOLoopBound(ServiceServer(service: service.shared, eventLoop: loop), eventLoop: loop)
        }.get()
        let channel = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Cipher())
                    try server.value.accept(channel, .pipeline)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return (channel, server)
    }

    /// The system's network, with streams whose bytes are changed.
    private struct ChangedNetwork: ClientNetwork {
        private let system = SystemNetwork()

        var now: ContinuousClock.Instant { system.now }
        var byteKind: ByteChannel.Kind { .pipeline }

        func watch(
            _ service: String, logger: Logger, on eventLoop: any EventLoop,
            _ handler: @escaping (ElementalBrowser.Event) -> Void
        ) -> AnyObject { system.watch(service, logger: logger, on: eventLoop, handler) }

        func connect(
            to endpoint: Connector.Endpoint, named name: String, _ options: ConnectOptions, on eventLoop: any EventLoop
        ) -> EventLoopFuture<any Channel> {
            system.connect(to: endpoint, named: name, options, on: eventLoop).flatMapThrowing { channel in
                try channel.pipeline.syncOperations.addHandler(Cipher())
                return channel
            }
        }

        func openDatagrams(
            to remote: SocketAddress, from local: SocketAddress?, on eventLoop: any EventLoop,
            _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel> { system.openDatagrams(to: remote, from: local, on: eventLoop, initialize) }
    }

    /// Short values, one that goes in pieces, one that is sent whole, pings and both kinds of end.
    @Test
    func aConnectionWithChangedBytesDoesAllThatAPlainOneDoes() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let service = ElementalService("test", displayName: "Test", elements: Lamp.all)
        let (channel, server) = try await Self.listen(service, on: loop)
        let port = try #require(channel.localAddress?.port)
        let sizes = [0, 20_000, 3_000_000, 1]
        let blobs = Transcript<Int>()
        service.onValue(of: Lamp.blob) { value, _ in blobs.add(value.count) }
        let labels = Transcript<String>()

        var options = ConnectOptions.patientAtTheEnd
        options.expectsHello = true
        options.allowsUDP = false
        options.network = ChangedNetwork()
        options.eventLoopGroup = loop
        let device = try await ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options
        ) { $0.onValue(of: Lamp.label) { labels.add($0) } }
        for size in sizes { try await device.sendWhenReady(Data(repeating: 7, count: size), to: Lamp.blob) }
        try await blobs.wait(for: sizes.count)
        #expect(blobs.all == sizes)
        try service.send("on", to: Lamp.label)
        try await labels.wait(for: 1)
        #expect(try await device.ping() > .zero)
        // Its datagrams would not be changed: it has none.
        #expect(service.devices.first?.udpIdentifier == 0)
        let client = try #require(service.devices.first)

        // What is sent before the close arrives.
        try device.send("off", to: Lamp.label)
        try device.send(Data(count: 5), to: Lamp.blob)
        await device.close()
        #expect(await client.waitUntilDisconnected().kind == .closedByPeer)
        #expect(blobs.all == sizes + [5])

        try await device.reconnect()
        try await loop.flatSubmit { server.value.disconnectAll("good night") }.get()
        #expect(await device.waitUntilDisconnected().kind == .shutDown("good night"))
        try await channel.close()
    }
}
