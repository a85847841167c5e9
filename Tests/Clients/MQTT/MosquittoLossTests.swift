import Foundation
import NIOCore
import Support
import TestSupport
import Testing

@testable import MQTT

/// Brokers that go, stop and come back, and how much they can be sent.
@Suite(
    .backstop,
    .enabled(
        if: MosquittoBroker.unavailableReason == nil,
        "what a real broker does is left out: \(MosquittoBroker.unavailableReason ?? "")"))
struct MosquittoLossTests {
    @Test
    func theLastWill() async throws {
        try await MosquittoBroker.with { broker in
            let topic = MQTTTopic(valid: "will")
            // A connection that is stopped in good order says nothing.
            let polite = testOptions { $0.lastWill = MQTTLastWill(topic: topic, text: "polite") }
            try await withClient(broker.url, polite) { _, _ in }
            try await withClient(broker.url) { watcher, record in
                try await watcher.subscribe(to: [("will", .atLeastOnce), ("end", .atLeastOnce)])
                try await watcher.publish("", to: MQTTTopic(valid: "end"))
                try await eventually("the end") { !record.texts.isEmpty }
                #expect(record.texts == ["end="])
                // One that the broker ends, because another client has its identifier, ends without a DISCONNECT.
                // It does not come back, which would end the other one in turn.
                let broken = once {
                    $0.clientID = "same"
                    $0.lastWill = MQTTLastWill(topic: topic, text: "broken")
                }
                try await withClient(broker.url, broken) { _, _ in
                    try await withClient(broker.url, once { $0.clientID = "same" }) { _, _ in }
                }
                try await eventually("the will") { record.texts.contains("will=broken") }
            }
            // It was retained, so that those who come later know as well.
            try await withClient(broker.url) { client, record in
                try await client.subscribe(to: "will")
                try await eventually("the will") { !record.texts.isEmpty }
                #expect(record.texts == ["will=broken"])
                #expect(record.allMessages.first?.isRetained == true)
            }
        }
    }

    @Test
    func aBrokerThatIsKilledAndComesBack() async throws {
        try await MosquittoBroker.with { broker in
            let topics = (0..<500).map { MQTTTopic(valid: "v/\($0)") }
            let client = MQTTClient(try MQTTAddress(broker.url), options: testOptions())
            let record = Record(client)
            let round = Locked(0)
            // What a bridge does: with each connection all values, before anything else.
            client.onEvent { event in
                guard case .connected = event else { return }
                let text = round.withLock { round in
                    round += 1
                    return "\(round)"
                }
                for topic in topics {
                    do {
                        try client.publishNewest(ByteBuffer(string: text), to: topic, retain: true)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            let running = Task { try await client.run() }
            try await eventually("connected") { client.isConnected }
            try await client.subscribe(to: "v/#")
            for restart in 1...2 {
                try await eventually("the values of round \(restart)") {
                    record.texts.count { $0.hasSuffix("=\(restart)") } >= 500
                }
                try await broker.restart()
                try await eventually("a connection") { record.connections == restart + 1 }
            }
            // The broker has forgotten what was retained and what was subscribed to; both are there again.
            try await eventually("the values of round 3") {
                record.texts.count { $0.hasSuffix("=3") } >= 500
            }
            let third = record.allMessages.filter { String(buffer: $0.payload) == "3" }
            #expect(third.allSatisfy { $0.isRetained }, "they were published before it was subscribed to")
            #expect(record.retries.first?.error.code == .connectionLost)
            #expect(record.retries.first?.attempt == 1 && record.retries.first?.delay == .zero)
            client.stop()
            try await running.value
        }
    }

    /// Two clients with one identifier take the session from each other, slower and slower.
    @Test
    func aSessionThatIsTakenOver() async throws {
        try await MosquittoBroker.with { broker in
            let options = testOptions {
                $0.clientID = "same"
                $0.reconnection = EndlessDelays(every: .zero)
            }
            try await withClient(broker.url, options) { first, record in
                try await withClient(broker.url, options, waits: false) { second, other in
                    try await eventually("several losses") {
                        record.retries.contains { $0.delay >= .seconds(1) }
                            || other.retries.contains { $0.delay >= .seconds(1) }
                    }
                    let losses = record.retries + other.retries
                    #expect(losses.allSatisfy { $0.error.code == .connectionLost })
                    #expect(losses.first?.error.message.contains("another client connects with the same") == true)
                    #expect(losses.count < 20, "\(losses.count)")
                }
            }
        }
    }

    /// 10 MB against a broker whose process is stopped: the bounds hold, and afterwards the newest values arrive.
    @Test
    func aBrokerThatIsStopped() async throws {
        try await MosquittoBroker.with(["allow_anonymous true", "max_queued_messages 0"]) { broker in
            let options = testOptions {
                $0.maximumWaitingBytes = 1 << 20
                $0.maximumInFlight = 1000
            }
            try await withClient(broker.url) { reader, record in
                try await reader.subscribe(to: "v/#")
                try await withClient(broker.url, options) { client, losses in
                    broker.pause()
                    let topics = (0..<100).map { MQTTTopic(valid: "v/\($0)") }
                    var (number, refused) = (0, 0)
                    func publishAll() {
                        for topic in topics {
                            var payload = ByteBuffer(integer: UInt32(number))
                            payload.writeRepeatingByte(0, count: 508)
                            let error = refusal { try client.publishNewest(payload, to: topic) }
                            if error != nil { refused += 1 }
                            number += 1
                        }
                    }
                    // More than 10 MB, and until the broker takes no more.
                    try await eventually("nothing more is taken") {
                        publishAll()
                        #expect(client.statistics.waitingBytes <= 1 << 20)
                        #expect(client.statistics.inFlight <= 1000)
                        return number >= 20_500 && client.statistics.waitingMessages == 100
                    }
                    #expect(refused == 0, "the newest value of a topic always has a place")
                    #expect(client.statistics.messagesSent <= 1000)
                    #expect(client.statistics.replacedMessages > 15_000)
                    // What is to be sent whatever comes is refused beyond the bound.
                    let large = ByteBuffer(repeating: 0, count: 1 << 20 - 10_000)
                    #expect(await mqttError { try await client.publish(large, to: topics[0]) }?.code == .queueFull)
                    broker.resume()
                    try await eventually("nothing waits any more") {
                        client.statistics.waitingMessages == 0 && client.statistics.inFlight == 0
                    }
                    let sent = client.statistics.messagesSent
                    try await eventually("everything that was sent arrives") {
                        record.allMessages.count == sent
                    }
                    var newest: [String: UInt32] = [:]
                    for message in record.allMessages {
                        newest[message.topic] = message.payload.getInteger(at: message.payload.readerIndex)
                    }
                    #expect(newest.count == 100)
                    let expected = (0..<100).map { ("v/\($0)", UInt32(number - 100 + $0)) }
                    #expect(newest == Dictionary(uniqueKeysWithValues: expected))
                    #expect(losses.retries.isEmpty)
                }
            }
        }
    }

    /// Many tasks, each of which waits for its acknowledgement.
    @Test
    func manyPublishers() async throws {
        try await MosquittoBroker.with { broker in
            try await withClient(broker.url, testOptions { $0.maximumInFlight = 10 }) { client, _ in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for publisher in 0..<50 {
                        group.addTask {
                            for _ in 0..<20 { try await client.publish("x", to: MQTTTopic(valid: "p/\(publisher)")) }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(client.statistics.messagesSent == 1000)
                #expect(client.statistics.inFlight == 0)
            }
        }
    }
}
