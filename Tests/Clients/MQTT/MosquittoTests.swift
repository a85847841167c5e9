import Foundation
import NIOCore
import TestSupport
import Testing

@testable import MQTT

/// The client against Debian's mosquitto.
@Suite(
    .backstop,
    .enabled(
        if: MosquittoBroker.unavailableReason == nil,
        "what a real broker does is left out: \(MosquittoBroker.unavailableReason ?? "")"))
struct MosquittoTests {
    @Test
    func bothKindsBothWays() async throws {
        try await MosquittoBroker.with { broker in
            try await withClient(broker.url) { client, record in
                let granted = try await client.subscribe(to: [("a/#", .atLeastOnce), ("b/+", .atMostOnce)])
                #expect(granted == [.atLeastOnce, .atMostOnce])
                try await client.publish("1", to: MQTTTopic(valid: "a/x/y"), qos: .atLeastOnce)
                try await client.publish("2", to: MQTTTopic(valid: "a"), qos: .atMostOnce)
                try await client.publish(Array("3".utf8), to: MQTTTopic(valid: "b/ü"), qos: .atLeastOnce)
                try await client.publish("no", to: MQTTTopic(valid: "b/x/y"))
                try await client.publish(ByteBuffer(), to: MQTTTopic(valid: "b/"), qos: .atMostOnce)
                let large = ByteBuffer(repeating: 9, count: 1 << 20)
                try await client.publish(large, to: MQTTTopic(valid: "a/large"))
                try await eventually("all messages: \(record.texts.count)") {
                    record.allMessages.count == 5
                }
                #expect(record.texts.prefix(4) == ["a/x/y=1", "a=2", "b/ü=3", "b/="])
                let messages = record.allMessages
                #expect(messages.map(\.qos.rawValue) == [1, 0, 0, 0, 1], "the lower one of both ends")
                #expect(messages[4].payload == large)
                #expect(messages.allSatisfy { !$0.isRetained && !$0.isDuplicate })
                try await client.unsubscribe(from: ["a/#"])
                try await client.publish("gone", to: MQTTTopic(valid: "a/x/y"))
                try await client.publish("last", to: MQTTTopic(valid: "b/z"))
                try await eventually("the last message") { record.allMessages.count == 6 }
                #expect(record.texts.last == "b/z=last")
                #expect(client.statistics.inFlight == 0)
            }
        }
    }

    @Test
    func retainedMessages() async throws {
        try await MosquittoBroker.with { broker in
            let topic = MQTTTopic(valid: "kept/value")
            try await withClient(broker.url) { client, _ in
                try await client.publish("old", to: topic, retain: true)
                try await client.publish("kept", to: topic, retain: true)
                try await client.publish("not kept", to: MQTTTopic(valid: "kept/other"))
            }
            try await withClient(broker.url) { client, record in
                try await client.subscribe(to: "kept/#")
                try await eventually("the kept message") { !record.allMessages.isEmpty }
                try await client.publish("live", to: topic, retain: true)
                try await eventually("the live message") { record.allMessages.count == 2 }
                #expect(record.texts == ["kept/value=kept", "kept/value=live"])
                #expect(record.allMessages.map(\.isRetained) == [true, false])
                // An empty one ends it.
                try await client.publish(ByteBuffer(), to: topic, retain: true)
            }
            try await withClient(broker.url) { client, record in
                try await client.subscribe(to: [("kept/#", .atLeastOnce), ("end", .atLeastOnce)])
                try await client.publish("", to: MQTTTopic(valid: "end"))
                try await eventually("the end") { record.texts.contains("end=") }
                #expect(record.texts == ["end="])
            }
        }
    }

    /// mosquitto's own clients are the other end.
    @Test
    func itsOwnClients() async throws {
        try await MosquittoBroker.with { broker in
            try await withClient(broker.url) { client, record in
                try await client.subscribe(to: "in/#")
                let end = ["-h", "127.0.0.1", "-p", "\(broker.port)"]
                try await ChildProcess.run("mosquitto_pub", end + ["-q", "1", "-t", "in/x", "-m", "grüße"])
                try await eventually("its message") { record.texts == ["in/x=grüße"] }
                try await ChildProcess.with("mosquitto_sub", end + ["-q", "1", "-v", "-C", "2", "-t", "out/#"]) {
                    child in
                    try await broker.logLine(containing: "auto-")
                    try await eventually("it has subscribed") {
                        try await client.publish("1", to: MQTTTopic(valid: "out/a"), qos: .atMostOnce)
                        return !child.lines(of: .output).isEmpty
                    }
                    #expect(child.lines(of: .output).first == "out/a 1")
                }
            }
        }
    }

    // MARK: - Letting in

    @Test
    func usersAndPasswords() async throws {
        let settings = ["allow_anonymous false", "password_file {folder}/passwords"]
        try await MosquittoBroker.with(settings, users: ["rob": "right"]) { broker in
            let address = "mqtt://rob@127.0.0.1:\(broker.port)"
            try await withClient(address, once { $0.password = { "right" } }) { client, _ in
                try await client.publish("x", to: MQTTTopic(valid: "t"))
            }
            for options in [once { $0.password = { "wrong" } }, once()] {
                let error = try await errorOfRun(address, options)
                #expect(error?.code == .notAuthorised, "\(String(describing: error))")
                #expect(error?.message.contains("allow_anonymous") == true)
            }
            let anonymous = try await errorOfRun(broker.url, once())
            #expect(anonymous?.code == .notAuthorised)
        }
    }

    @Test
    func anAccessListKeepsMessagesBack() async throws {
        let settings = ["allow_anonymous true", "acl_file {folder}/acl"]
        let broker = try await MosquittoBroker(settings)
        try broker.write("topic readwrite mine/#\n", to: "acl")
        try await broker.run { broker in
            try await withClient(broker.url) { client, record in
                // Some versions grant every subscription and check the list for each message; others refuse this one.
                _ = await mqttError {
                    try await client.subscribe(to: [("mine/#", .atLeastOnce), ("yours", .atLeastOnce)])
                }
                try await client.publish("x", to: MQTTTopic(valid: "yours"))
                try await client.publish("y", to: MQTTTopic(valid: "mine/a"))
                try await eventually("its own message") { !record.texts.isEmpty }
                #expect(record.texts == ["mine/a=y"])
            }
        }
    }

    @Test
    func withTLS() async throws {
        let settings = ["allow_anonymous true", "max_queued_messages 0"]
        try await MosquittoBroker.with(settings, isSecure: true) { broker in
            let pem = try #require(broker.certificates).authorityPEM
            var trusting = once()
            try trusting.trustCertificates(pem: pem)
            for host in ["localhost", "127.0.0.1"] {
                try await withClient("mqtts://\(host):\(broker.port)", trusting) { client, record in
                    try await client.subscribe(to: "t/#")
                    let large = ByteBuffer(repeating: 9, count: 300_000)
                    try await client.publish(large, to: MQTTTopic(valid: "t/large"))
                    for number in 0..<2000 {
                        try client.publishNewest(ByteBuffer(string: "x"), to: MQTTTopic(valid: "t/\(number)"))
                    }
                    try await eventually("all come back") { record.allMessages.count == 2001 }
                    #expect(record.allMessages.first?.payload == large)
                }
            }
            let untrusted = try await errorOfRun(broker.url, once())
            #expect(untrusted?.code == .tlsFailed)
            #expect(untrusted?.description.contains("not signed by a trusted authority") == true)
            let plain = try await errorOfRun("mqtt://127.0.0.1:\(broker.port)", once())
            #expect(plain?.code == .closedByBroker, "\(String(describing: plain))")
            #expect(plain?.description.contains("it may expect TLS on this port (mqtts://)") == true)
        }
        try await MosquittoBroker.with { broker in
            let error = try await errorOfRun("mqtts://127.0.0.1:\(broker.port)", once())
            // It takes the handshake for a broken packet and resets the connection.
            #expect(error?.code == .closedByBroker || error?.code == .tlsFailed)
            #expect(error?.description.contains("mqtt://?") == true, "\(String(describing: error))")
        }
    }
}
