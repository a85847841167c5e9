import Foundation
import NIOCore
import Support
import TestSupport
import Testing

@testable import MQTT

/// More than anyone can take, from the broker and to it.
@Suite(.backstop)
struct FloodTests {
    private let topic = MQTTTopic(valid: "t")

    @Test
    func messagesThatWereNeverSubscribedTo() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, record, peer in
            let batch = Array(Array(repeating: BrokerPeer.publish("x", [1, 2, 3]), count: 1000).joined())
            for _ in 0..<20 { try peer.write(batch) }
            try await eventually("all of them") { record.allMessages.count == 20_000 }
            async let published: Void = client.publish("still here", to: topic)
            try peer.write([0x40, 2] + (try await peer.message().identifier))
            try await published
            #expect(client.statistics.messagesReceived == 20_000)
        }
    }

    @Test
    func acknowledgementsOfNothing() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, _, peer in
            let storm = (1...20_000).flatMap { number -> [UInt8] in
                [0x40, 2, UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
            }
            try peer.write(storm)
            try await eventually("all are counted") { client.statistics.unexpectedAcknowledgements == 20_000 }
            async let published: Void = client.publish("still here", to: topic)
            try peer.write([0x40, 2] + (try await peer.message().identifier))
            try await published
            #expect(client.statistics.inFlight == 0)
        }
    }

    /// A broker that sends without reading the acknowledgements is read no more until it does.
    @Test
    func acknowledgementsThatNobodyReads() async throws {
        let broker = try ScriptedBroker(receiveBuffer: 4096)
        try await broker.withSession { client, record, peer in
            let total = 400_000
            let message = BrokerPeer.publish("t", [], identifier: 1)
            let batch = Array(Array(repeating: message, count: 1000).joined())
            let sent = Locked(0)
            // A thread of its own, because it is kept waiting.
            Thread.detachNewThread {
                for _ in 0..<total / 1000 {
                    guard (try? peer.write(batch)) != nil else { return }
                    sent.withLock { $0 += 1000 }
                }
            }
            var (last, same) = (0, 0)
            try await eventually("the client reads no more") {
                let received = client.statistics.messagesReceived
                same = received == last && received > 0 ? same + 1 : 0
                last = received
                return same > 150
            }
            #expect(last < total, "it has read everything")
            for _ in 0..<last { _ = try await peer.message() }
            try await eventually("it goes on") { client.statistics.messagesReceived > last }
        }
    }

    /// Bursts whose acknowledgements come one by one: reading is held back, nothing stalls, and each is sent in its order.
    @Test
    func burstsWithManyAcknowledgements() async throws {
        let broker = try ScriptedBroker()
        try await broker.withSession { client, record, peer in
            let topics = (0..<3000).map { MQTTTopic(valid: "element/\($0)") }
            let published = Locked<[String]>([])
            let answering = Task {
                while true {
                    let packet = try await peer.packet()
                    guard packet.kind == .publish else { continue }
                    published.withLock { $0.append(packet.topic) }
                    try peer.write([0x40, 2] + packet.identifier)
                }
            }
            for round in 0..<5 {
                let publish: @Sendable () throws -> Void = {
                    for topic in topics { try client.publishNewest(ByteBuffer(string: "\(round)"), to: topic) }
                }
                // From another thread, and from the event loop itself.
                if round == 0 { try publish() } else { try await client.eventLoop.submit(publish).get() }
                #expect(client.statistics.inFlight <= MQTTOptions().maximumInFlight)
                // A message in between waits for no longer than the rest.
                try peer.write(BrokerPeer.publish("between", Array("\(round)".utf8)))
                try await eventually("all are acknowledged") {
                    client.statistics.inFlight == 0 && client.statistics.waitingMessages == 0
                }
            }
            try await eventually("the messages in between") { record.texts.count == 5 }
            #expect(client.statistics.messagesSent == 15_000)
            let names = topics.map(\.name)
            #expect(published.withLock { $0 } == Array(Array(repeating: names, count: 5).joined()))
            #expect(record.retries.isEmpty)
            peer.close()
            _ = await answering.result
        }
    }
}
