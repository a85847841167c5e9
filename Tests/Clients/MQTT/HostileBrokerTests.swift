import NIOCore
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

    /// What the client does at which time is the matter of ``ConnectionTimeTests``.
    @Test
    func oneThatIsSilentOrReadsNothingIsLost() async throws {
        let broker = try ScriptedBroker(receiveBuffer: 128 << 10)
        let options = testOptions {
            $0.keepAlive = .milliseconds(200)
            $0.maximumWaitingBytes = 64 << 20
        }
        try await withClient(broker.url, options, waits: false) { client, record in
            // The first one does nothing more, and the second one does not read what fills the network.
            let silent = try await broker.session()
            try await eventually("the loss") { record.retries.count == 1 }
            let full = try await broker.session()
            try await eventually("the other loss") {
                try? client.publishNewest(ByteBuffer(repeating: 7, count: 8 << 20), to: topic, qos: .atMostOnce)
                return record.retries.count >= 2
            }
            #expect(record.retries.prefix(2).map(\.error.code) == [.timedOut, .timedOut])
            for peer in [silent, full] { peer.close() }
        }
    }
}
