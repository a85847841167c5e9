import Foundation
import NIOCore
import TestSupport
import Testing

@testable import MQTT

/// What waits to be sent, and what becomes of it.
@Suite(.backstop)
struct WaitingTests {
    private let topic = MQTTTopic(valid: "t")

    @Test
    func whatWaitsIsBounded() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions {
            $0.maximumInFlight = 2
            $0.maximumWaitingTopics = 3
            $0.maximumWaitingBytes = 2000
        }
        try await broker.withSession(options) { client, record, peer in
            let topics = (0..<6).map { MQTTTopic(valid: "\($0)") }
            try await client.eventLoop.submit {
                for topic in topics.prefix(5) { try client.publishNewest(ByteBuffer(string: "old"), to: topic) }
            }.get()
            try await eventually("two are in flight") {
                client.statistics.inFlight == 2 && client.statistics.waitingMessages == 3
            }
            let error = refusal { try client.publishNewest(ByteBuffer(string: "x"), to: topics[5]) }
            #expect(error?.code == .queueFull)
            try client.publishNewest(ByteBuffer(string: "new"), to: topics[3])
            let large = ByteBuffer(repeating: 0, count: 1800)
            #expect(await mqttError { try await client.publish(large, to: topic) }?.code == .queueFull)
            #expect(client.statistics.waitingBytes < 2000)
            async let queued: Void = client.publish("queued", to: topic)
            try await eventually("it waits") { client.statistics.waitingMessages == 4 }
            var payloads: [String] = []
            for _ in 0..<6 {
                let packet = try await peer.message()
                payloads.append(
                    "\(packet.topic)="
                        + String(decoding: packet.body.dropFirst(4 + packet.topic.utf8.count), as: UTF8.self))
                try peer.write([0x40, 2] + packet.identifier)
            }
            try await queued
            #expect(payloads == ["0=old", "1=old", "2=old", "3=new", "4=old", "t=queued"])
            #expect(client.statistics.replacedMessages == 1)
        }
    }

    /// What one turn of the event loop publishes does not pile up, and goes when the network takes more.
    @Test
    func oneTurnOfTheEventLoop() async throws {
        let broker = try ScriptedBroker(receiveBuffer: 4096)
        try await broker.withSession { client, _, peer in
            let topics = (0..<5000).map { MQTTTopic(valid: "\($0)") }
            let payload = ByteBuffer(repeating: 1, count: 1000)
            try await client.eventLoop.submit {
                for topic in topics { try client.publishNewest(payload, to: topic, qos: .atMostOnce) }
            }.get()
            #expect(client.statistics.messagesSent < 1500, "\(client.statistics)")
            #expect(client.statistics.waitingMessages > 3500)
            for topic in topics { #expect(try await peer.message().topic == topic.name) }
            #expect(client.statistics.waitingBytes == 0)
        }
    }

    /// They are restored after what the handlers of the event publish, without those that were ended or are refused.
    @Test
    func subscriptionsAreRestored() async throws {
        let broker = try ScriptedBroker()
        try await withClient(broker.url, waits: false) { client, record in
            client.onEvent { event in
                guard case .connected = event else { return }
                try? client.publishNewest(ByteBuffer(string: "online"), to: topic, qos: .atMostOnce)
            }
            func answer(_ peer: BrokerPeer, _ first: UInt8, _ codes: [UInt8]) async throws -> MQTTPacket {
                let packet = try await peer.message()
                try peer.write([first, UInt8(2 + codes.count)] + packet.body.prefix(2) + codes)
                return packet
            }
            let first = try await broker.session()
            #expect(try await first.message().topic == "t")
            async let granted = client.subscribe(to: [("a", .atLeastOnce), ("b", .atMostOnce), ("c", .atLeastOnce)])
            #expect(try await answer(first, 0x90, [1, 0, 0]).first == 0x82)
            #expect(try await granted == [.atLeastOnce, .atMostOnce, .atMostOnce])
            async let ended: Void = client.unsubscribe(from: ["b"])
            #expect(try await answer(first, 0xB0, []).first == 0xA2)
            try await ended
            first.close()

            let second = try await broker.session()
            #expect(try await second.message().topic == "t")
            let restored = try await answer(second, 0x90, [1, 0x80])
            #expect(restored.body.dropFirst(2) == [0, 1, UInt8(ascii: "a"), 1, 0, 1, UInt8(ascii: "c"), 1])
            try await eventually("the refusal") { record.names.contains(#"refused ["c"]"#) }
            second.close()

            let third = try await broker.session()
            #expect(try await third.message().topic == "t")
            #expect(try await third.message().body.dropFirst(2) == [0, 1, UInt8(ascii: "a"), 1])
            third.close()
        }
    }

    @Test
    func aSubscriptionThatIsRefusedIsNamed() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, _, peer in
            async let refused = mqttError {
                try await client.subscribe(to: [("mine/#", .atLeastOnce), ("yours", .atLeastOnce)])
            }
            let packet = try await peer.message()
            try peer.write([0x90, 4] + packet.body.prefix(2) + [1, 0x80])
            let error = await refused
            #expect(error?.code == .subscriptionRefused)
            #expect(error?.message.contains("'yours'") == true && error?.message.contains("mine") == false)
            // The other one is granted, and restored.
            peer.close()
            let next = try await broker.session()
            #expect(try await next.message().body.dropFirst(2) == [0, 6] + Array("mine/#".utf8) + [1])
            next.close()
        }
    }

    /// A value from the event loop does not overtake one that another thread has left there just before.
    @Test
    func valuesOfTwoThreads() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, _, peer in
            try await client.eventLoop.submit {
                let isAdded = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    try? client.publishNewest(ByteBuffer(string: "1"), to: topic)
                    isAdded.signal()
                }
                isAdded.wait()
                try client.publishNewest(ByteBuffer(string: "2"), to: topic)
                try client.publishNewest(ByteBuffer(string: "3"), to: MQTTTopic(valid: "end"))
            }.get()
            async let end: Void = client.publish("4", to: MQTTTopic(valid: "end"), qos: .atMostOnce)
            for expected in "234".utf8 { #expect(try await peer.message().body.last == expected) }
            try await end
        }
    }

    /// What is not acknowledged is gone with the connection, and whoever waits is told.
    @Test
    func theConnectionIsLostWhileSomethingWaits() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.maximumInFlight = 1 }
        try await broker.withSession(options) { client, record, peer in
            async let first = mqttError { try await client.publish("1", to: topic) }
            _ = try await peer.message()
            async let second = mqttError { try await client.publish("2", to: topic) }
            async let subscription = mqttError { try await client.subscribe(to: "a") }
            try await eventually("it waits") { client.statistics.waitingMessages == 1 }
            try client.publishNewest(ByteBuffer(string: "3"), to: MQTTTopic(valid: "n"))
            #expect(try await peer.message().first == 0x82)
            peer.close()
            #expect(await first?.code == .connectionLost)
            #expect(await second?.code == .connectionLost)
            #expect(await subscription?.code == .connectionLost)
            try await eventually("the loss") { !record.retries.isEmpty }
            let next = try await broker.session()
            try await eventually("connected again") { client.isConnected }
            #expect(client.statistics.waitingMessages == 0 && client.statistics.inFlight == 0)
            try client.publishNewest(ByteBuffer(string: "4"), to: MQTTTopic(valid: "n"))
            #expect(try await next.message().body.last == UInt8(ascii: "4"), "nothing older comes")
            next.close()
        }
    }

    @Test
    func withoutAConnection() async throws {
        let client = MQTTClient(try MQTTAddress("mqtt://127.0.0.1"))
        #expect(refusal { try client.publishNewest(ByteBuffer(), to: topic) }?.code == .notConnected)
        #expect(await mqttError { try await client.publish("x", to: topic) }?.code == .notConnected)
        #expect(await mqttError { try await client.subscribe(to: "x") }?.code == .notConnected)
        #expect(await mqttError { try await client.unsubscribe(from: ["x"]) }?.code == .notConnected)
        #expect(await mqttError { try await client.subscribe(to: "a#") }?.code == .invalidTopic)
    }

    @Test
    func aCancelledTaskWaitsNoLonger() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, _, peer in
            for call in 0..<2 {
                let task = Task {
                    if call == 0 {
                        try await client.publish("x", to: topic)
                    } else {
                        _ = try await client.subscribe(to: "x")
                    }
                }
                _ = try await peer.message()
                task.cancel()
                guard case .failure(let error as MQTTError) = await task.result else {
                    throw TestSupportError("it was not cancelled")
                }
                #expect(error.code == .cancelled)
            }
        }
    }
}
