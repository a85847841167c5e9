import NIOCore
import NIOEmbedded
import Support
import TestSupport
import Testing

@testable import MQTT

/// When a client pings, gives up and takes its leave, by a clock that only these tests set.
struct ConnectionTimeTests {
    private static let ping = MQTTPacket(first: 0xC0)
    private static let farewell = MQTTPacket(first: 0xE0)
    /// After this a broker that seems to be dead counts as dead.
    private static let confirmation = TimeAmount.milliseconds(10)

    private func connected(_ change: (inout MQTTOptions) -> Void = { _ in }) throws -> EmbeddedClient {
        try EmbeddedClient.connected {
            $0.keepAlive = .seconds(10)
            change(&$0)
        }
    }

    // MARK: - Connecting

    @Test(arguments: [
        (EmbeddedClient.Network.connects, "it accepted the TCP connection but does not answer; does it speak MQTT"),
        (.isSilent, "no answer"),
    ])
    func connectingIsBounded(_ network: EmbeddedClient.Network, _ words: String) throws {
        let client = try EmbeddedClient(network, once { $0.connectTimeout = .seconds(15) })
        client.loop.advanceTime(by: .seconds(15) - .nanoseconds(1))
        #expect(client.end == nil)
        client.loop.advanceTime(by: .nanoseconds(1))
        let error = refusal { _ = try client.end?.get() }
        #expect(error?.code == .timedOut)
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    // MARK: - Keep-alive

    @Test
    func silenceEndsTheConnection() throws {
        let client = try connected()
        client.loop.advanceTime(by: .seconds(10) - .nanoseconds(1))
        #expect(try client.sent() == [])
        client.loop.advanceTime(by: .nanoseconds(1))
        #expect(try client.sent() == [Self.ping])
        client.loop.advanceTime(by: .seconds(5))
        #expect(client.record.names == ["connected"])
        client.loop.advanceTime(by: Self.confirmation)
        #expect(client.record.names == ["connected", "will reconnect 1: timedOut"])
        #expect(client.record.retries.first?.error.message.contains("has not answered for 15") == true)
    }

    @Test
    func answersKeepTheConnection() throws {
        let client = try connected()
        for _ in 0..<10 {
            client.loop.advanceTime(by: .seconds(10))
            #expect(try client.sent() == [Self.ping])
            try client.receive(MQTTPacket.pingResponse)
        }
        #expect(client.record.names == ["connected"])
    }

    /// An event loop that did not run for a while looks at what has arrived before it gives a broker up.
    @Test
    func anEventLoopThatIsHeldUp() throws {
        let client = try connected()
        for _ in 0..<2 {
            client.loop.advanceTime(by: .seconds(10))
            #expect(try client.sent() == [Self.ping])
            // The timer fires, and what came before it is read only then.
            client.loop.advanceTime(by: .seconds(5))
            try client.receive(MQTTPacket.pingResponse)
            client.loop.advanceTime(by: Self.confirmation)
            #expect(client.record.names == ["connected"])
            client.loop.advanceTime(by: .seconds(5) - Self.confirmation)
            #expect(try client.sent() == [Self.ping])
            try client.receive(MQTTPacket.pingResponse)
        }
    }

    /// The time of a ping that waits behind a large message begins when the network has taken it, as long as the network
    /// takes something.
    @Test(arguments: [(takenAt: 12, lostAt: 20), (nil, 15)] as [(takenAt: Int64?, lostAt: Int64)])
    func aLargeMessageOnItsWay(_ takenAt: Int64?, _ lostAt: Int64) throws {
        let client = try connected()
        let dam = Dam()
        try client.channel.pipeline.syncOperations.addHandler(dam, position: .first)
        try client.publish("t", size: 1 << 20, qos: .atMostOnce)
        client.loop.advanceTime(to: NIODeadline.uptimeNanoseconds(0) + .seconds(10))
        #expect(try client.sent() == [])
        if let takenAt {
            client.loop.advanceTime(to: NIODeadline.uptimeNanoseconds(0) + .seconds(takenAt))
            dam.open()
            #expect(try client.sent().map(\.kind) == [.publish, .ping])
        }
        client.loop.advanceTime(to: NIODeadline.uptimeNanoseconds(0) + .seconds(lostAt))
        #expect(client.record.names == ["connected"])
        client.loop.advanceTime(by: Self.confirmation)
        #expect(client.record.retries.map(\.error.code) == [.timedOut])
    }

    @Test
    func aBrokerThatAcknowledgesNothing() throws {
        let client = try connected()
        try client.publish("t")
        #expect(try client.sent().map(\.kind) == [.publish])
        for second in 1...20 {
            #expect(client.record.retries.isEmpty, "after \(second - 1) s")
            client.loop.advanceTime(by: .seconds(1))
            for packet in try client.sent() where packet == Self.ping { try client.receive(MQTTPacket.pingResponse) }
        }
        client.loop.advanceTime(by: Self.confirmation)
        #expect(client.record.retries.first?.error.message.contains("acknowledged none of 1") == true)
    }

    // MARK: - Sending and receiving

    @Test
    func bytesOneByOne() throws {
        let client = try EmbeddedClient()
        #expect(try client.sent().map(\.kind) == [.connect])
        for byte in BrokerPeer.accepted + BrokerPeer.publish("a/b", Array("x".utf8), identifier: 7) {
            #expect(client.record.texts == [])
            try client.receive([byte])
        }
        #expect(try client.sent() == [MQTTPacket(first: 0x40, body: [0, 7])])
        #expect(client.record.texts == ["a/b=x"])
    }

    /// Without room the newest values wait, and nothing but the network sets them going.
    @Test
    func theNetworkTakesMoreAgain() throws {
        let client = try connected()
        let channel = try client.channel
        channel.isWritable = false
        for number in 1...60 { try client.publish("v/\(number)", qos: .atMostOnce) }
        try client.publish("v/7", qos: .atMostOnce)
        #expect(try client.sent() == [])
        #expect(client.client.statistics.waitingMessages == 60)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(try client.sent().map(\.topic) == (1...60).map { "v/\($0)" })
        #expect(client.client.statistics.waitingBytes == 0)
    }

    // MARK: - Stopping

    @Test
    func stoppingWaitsForNothingElse() throws {
        let client = try connected { $0.maximumInFlight = 1 }
        for topic in ["1", "2"] { try client.publish(topic) }
        let first = try #require(client.sent().first)
        client.client.stop()
        #expect(try client.sent() == [])
        #expect(!client.client.isConnected)
        try client.receive([0x40, 2] + first.identifier)
        #expect(try client.sent().map(\.kind) == [.publish, .disconnect])
        _ = try client.channel.finish(acceptAlreadyClosed: true)
        #expect(client.record.names == ["connected", "ended: -"])
    }

    /// A broker that neither acknowledges nor closes costs 2 s.
    @Test
    func stoppingIsBounded() throws {
        let client = try connected()
        let sender = OutgoingMessage.Sender()
        try client.client.keeper.value.publishNewest(
            OutgoingMessage(
                topic: MQTTTopic(valid: "t"), payload: ByteBuffer(), qos: .atLeastOnce, isRetained: false,
                sender: sender))
        #expect(try client.sent().map(\.kind) == [.publish])
        client.client.stop()
        client.loop.advanceTime(by: .milliseconds(1500) - .nanoseconds(1))
        #expect(try client.sent() == [])
        client.loop.advanceTime(by: .nanoseconds(1))
        #expect(try client.sent() == [Self.farewell])
        client.loop.advanceTime(by: .milliseconds(500) - .nanoseconds(1))
        #expect(client.end == nil)
        client.loop.advanceTime(by: .nanoseconds(1))
        #expect(client.record.names == ["connected", "ended: -"])
        // Who waits for the acknowledgement has been told: nobody can decide it any more.
        #expect(!sender.resolve(.success(())))
    }
}
