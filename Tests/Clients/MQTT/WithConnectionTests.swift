import Support
import TestSupport
import Testing

@testable import MQTT

/// A connection for the time of a closure.
@Suite(.backstop)
struct WithConnectionTests {
    private struct Stop: Error, Equatable {}

    @Test
    func whatItPublishesIsSentBeforeItEnds() async throws {
        let broker = try ScriptedBroker()
        let address = try MQTTAddress(broker.url)
        async let result = MQTTClient.withConnection(address, options: once()) { client in
            for number in 0..<3 {
                try client.publishNewest(.init(string: "x"), to: MQTTTopic(valid: "\(number)"), qos: .atMostOnce)
            }
            return 42
        }
        let peer = try await broker.session()
        for number in 0..<3 { #expect(try await peer.message().topic == "\(number)") }
        #expect(try await peer.message().first == 0xE0)
        peer.close()
        #expect(try await result == 42)
    }

    @Test
    func whatItThrowsIsThrown() async throws {
        let broker = try ScriptedBroker()
        let address = try MQTTAddress(broker.url)
        let task = Task {
            try await MQTTClient.withConnection(address, options: once()) { _ in throw Stop() }
        }
        let peer = try await broker.session()
        try await peer.readToEnd()
        await #expect(throws: Stop.self) { try await task.value }
    }

    @Test
    func aConnectionThatCannotBeMadeOrEnds() async throws {
        let broker = try ScriptedBroker()
        let address = try MQTTAddress(broker.url)
        let options = once()
        func code(_ script: () async throws -> Void) async throws -> MQTTError.Code? {
            let task = Task {
                try await MQTTClient.withConnection(address, options: options) { client in
                    // Longer than the connection lasts.
                    try await client.publish("x", to: MQTTTopic(valid: "t"))
                    await Latch().wait()
                    try Task.checkCancellation()
                }
            }
            try await script()
            guard case .failure(let error) = await task.result else { return nil }
            return (error as? MQTTError)?.code
        }
        let closed = try await code { try await broker.accept().close() }
        #expect(closed == .closedByBroker)
        let lost = try await code {
            let peer = try await broker.session()
            try peer.write([0x40, 2] + (try await peer.message().identifier))
            peer.close()
        }
        #expect(lost == .connectionLost)
    }
}
