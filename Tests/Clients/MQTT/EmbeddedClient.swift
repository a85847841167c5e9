import NIOCore
import NIOEmbedded
import Support
import TestSupport

@testable import MQTT

/// A client whose event loop, clock and connections belong to a test. Use it in a test that is not `async`.
final class EmbeddedClient {
    /// What the network does when the client connects.
    enum Network {
        case connects
        /// There is no answer until the end of the test.
        case isSilent
    }

    let loop: EmbeddedEventLoop
    let client: MQTTClient
    let record: Record
    private let channels = Locked<[EmbeddedChannel]>([])
    private let unanswered = Locked<[EventLoopPromise<any Channel>]>([])
    /// How ``MQTTClient/run()`` would have ended.
    private(set) var end: Result<Void, MQTTError>?

    init(_ network: Network = .connects, _ options: MQTTOptions = testOptions()) throws {
        let loop = EmbeddedEventLoop()
        self.loop = loop
        let (channels, unanswered) = (channels, unanswered)
        client = MQTTClient(
            ClientCore(try MQTTAddress("mqtt://broker.test"), options, on: loop) { configure in
                guard network == .connects else {
                    let promise = loop.makePromise(of: (any Channel).self)
                    unanswered.withLock { $0.append(promise) }
                    return promise.futureResult
                }
                let channel = EmbeddedChannel(loop: loop)
                channels.withLock { $0.append(channel) }
                return loop.makeCompletedFuture { () -> any Channel in
                    try configure(channel)
                    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1883), promise: nil)
                    return channel
                }
            })
        record = Record(client)
        client.keeper.value.start { [weak self] in self?.end = $0 }
    }

    deinit {
        for promise in unanswered.withLock({ $0 }) { promise.fail(ChannelError.ioOnClosedChannel) }
    }

    /// A client that the broker has accepted.
    static func connected(_ change: (inout MQTTOptions) -> Void = { _ in }) throws -> EmbeddedClient {
        let client = try EmbeddedClient(.connects, testOptions(change))
        _ = try client.sent()
        try client.receive(BrokerPeer.accepted)
        return client
    }

    /// The newest connection.
    var channel: EmbeddedChannel {
        get throws {
            guard let channel = channels.withLock({ $0.last }) else { throw TestSupportError("no connection") }
            return channel
        }
    }

    /// The packets that the client has sent since the last call.
    func sent() throws -> [MQTTPacket] {
        loop.run()
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += Array(buffer.readableBytesView) }
        return MQTTPacket.packets(in: bytes)
    }

    /// The client gets bytes from the broker.
    func receive(_ bytes: [UInt8]) throws {
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        loop.run()
    }

    func publish(_ topic: String, size: Int = 1, qos: MQTTQoS = .atLeastOnce) throws {
        let payload = ByteBuffer(repeating: 7, count: size)
        try client.publishNewest(payload, to: MQTTTopic(valid: topic), qos: qos)
    }
}

/// A network that takes what is written when a test lets it. Placed next to the channel.
final class Dam: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private var isOpen = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
    func flush(context: ChannelHandlerContext) { if isOpen { context.flush() } }

    func open() {
        isOpen = true
        context?.flush()
    }
}
