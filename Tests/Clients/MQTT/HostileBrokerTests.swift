import Foundation
import NIOCore
import NIOPosix
import Support
import TestSupport
import Testing

@testable import MQTT

/// What a broker that has accepted a connection can do wrong.
@Suite(.backstop)
struct HostileBrokerTests {
    private let topic = MQTTTopic(valid: "t")

    /// Each ends the connection, and the client makes another.
    @Test(
        arguments: [
            BrokerPeer.accepted, [0x34, 3, 0, 1, 0x61], [0x30, 0xFF, 0xFF, 0xFF, 0x7F], [0x30, 3, 0, 0, 0], [0xC0, 0],
            [0x62, 2, 0, 1],
        ] as [[UInt8]])
    func violations(_ bytes: [UInt8]) async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, record, peer in
            try peer.write(bytes)
            try await peer.readToEnd()
            let next = try await broker.session()
            try await eventually("another connection") { record.connections == 2 }
            let code = record.retries.first?.error.code
            #expect(code == .protocolViolation || code == .messageTooLarge)
            #expect(record.allMessages.isEmpty)
            next.close()
        }
    }

    @Test
    func bytesOneByOne() async throws {
        let broker = try ScriptedBroker()
        try await withClient(broker.url, waits: false) { client, record in
            let peer = try await broker.accept()
            _ = try await peer.packet()
            for byte in BrokerPeer.accepted + BrokerPeer.publish("a/b", Array("x".utf8), identifier: 7) {
                try peer.write([byte])
                try await Task.sleep(for: .milliseconds(1), clock: .suspending)
            }
            #expect(try await peer.message() == BrokerPeer.Packet(first: 0x40, body: [0, 7]))
            #expect(record.texts == ["a/b=x"])
            peer.close()
        }
    }

    @Test
    func duplicatesAreToldAndCounted() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, record, peer in
            let packet = BrokerPeer.publish("a", [0x31], identifier: 5)
            try peer.write(packet + [packet[0] | 8] + packet.dropFirst())
            #expect(try await peer.message().body == [0, 5])
            #expect(try await peer.message().body == [0, 5])
            #expect(record.allMessages.map(\.isDuplicate) == [false, true])
            #expect(client.statistics.duplicatesReceived == 1)
        }
    }

    @Test
    func silenceEndsTheConnection() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.keepAlive = .milliseconds(200) }
        try await broker.withSession(options) { _, record, peer in
            #expect(try await peer.packet() == BrokerPeer.Packet(first: 0xC0, body: []))
            // It is not answered.
            try await peer.readToEnd()
            try await eventually("the loss") { !record.retries.isEmpty }
            #expect(record.retries.first?.error.code == .timedOut)
        }
    }

    /// One that sends all the time notices it too: what it sends is no sign of the broker.
    @Test
    func silenceWhileSending() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.keepAlive = .milliseconds(300) }
        try await broker.withSession(options) { client, record, peer in
            try await eventually("the loss") {
                try? client.publishNewest(ByteBuffer(string: "x"), to: topic, qos: .atMostOnce)
                return !record.retries.isEmpty
            }
            #expect(record.retries.first?.error.code == .timedOut)
            peer.close()
        }
    }

    /// An event loop that did not run for a while looks at what has arrived before it gives a broker up.
    @Test
    func anEventLoopThatIsHeldUp() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let broker = try ScriptedBroker()
        let options = once {
            // Half of it is what this test has, on a busy machine, from a ping to holding the loop up.
            $0.keepAlive = .seconds(3) * Patience.factor
            $0.eventLoopGroup = group
        }
        let longerThanTheBrokersTime = 1_600_000 * UInt32(Patience.factor)
        try await broker.withSession(options) { client, record, peer in
            for _ in 0..<2 {
                #expect(try await peer.packet() == BrokerPeer.Packet(first: 0xC0, body: []))
                let isHeld = Locked(false)
                let isAnswered = DispatchSemaphore(value: 0)
                client.eventLoop.execute {
                    isHeld.withLock { $0 = true }
                    usleep(longerThanTheBrokersTime)
                    isAnswered.wait()
                }
                try await eventually("the loop is held up") { isHeld.withLock { $0 } }
                try peer.write([0xD0, 0])
                isAnswered.signal()
            }
            #expect(try await peer.packet() == BrokerPeer.Packet(first: 0xC0, body: []))
            #expect(record.names == ["connected"])
        }
        try await group.shutdownGracefully()
    }

    /// A message that takes several keep-alives to be read is no dead broker. One that nobody reads any more is.
    @Test
    func aLargeMessageToASlowBroker() async throws {
        let broker = try ScriptedBroker(receiveBuffer: 128 << 10)
        let options = testOptions {
            $0.keepAlive = .seconds(3) * Patience.factor
            $0.maximumWaitingBytes = 64 << 20
        }
        try await withClient(broker.url, options, waits: false) { client, record in
            let socket = try await broker.accept()
            _ = try await socket.packet()
            try socket.write(BrokerPeer.accepted)
            try await eventually("connected") { client.isConnected }
            let times = 90 * Int(Patience.factor)
            let payload = ByteBuffer(repeating: 7, count: times * 32 << 10 + 4 << 20)
            async let sent: Void = client.publish(payload, to: topic, qos: .atMostOnce)
            // That takes seven seconds, more than twice the keep-alive, and nothing is sent to the client meanwhile.
            try await socket.readSlowly(32 << 10, times: times, pause: 80)
            try await sent
            #expect(record.retries.isEmpty, "\(record.names)")
            #expect(client.isConnected)
            // Now nothing more is read.
            try await eventually("the loss") { !record.retries.isEmpty }
            #expect(record.retries.first?.error.code == .timedOut)
            socket.close()
        }
    }

    @Test
    func aBrokerThatAcknowledgesNothing() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.keepAlive = .milliseconds(600) * Patience.factor }
        try await broker.withSession(options) { client, record, peer in
            async let error = mqttError { () throws(MQTTError) in try await client.publish("x", to: topic) }
            // PINGREQs are answered.
            let answering = Task { while true { _ = try await peer.message() } }
            #expect(await error?.code == .connectionLost)
            try await eventually("the loss") { !record.retries.isEmpty }
            #expect(record.retries.first?.error.code == .timedOut)
            #expect(record.retries.first?.error.message.contains("acknowledged none of 1") == true)
            _ = await answering.result
        }
    }
}
