import NIOCore
import Support
import TestSupport
import Testing

@testable import MQTT

/// The end of a client, at any time.
@Suite(.backstop)
struct StoppingTests {
    private let topic = MQTTTopic(valid: "t")

    @Test
    func stoppingSendsWhatWaitsAndTakesLeave() async throws {
        let broker = try ScriptedBroker()
        let options = testOptions { $0.maximumInFlight = 1 }
        let client = MQTTClient(try MQTTAddress(broker.url), options: options)
        let record = Record(client)
        let running = Task { try await client.run() }
        let peer = try await broker.session()
        try await eventually("connected") { client.isConnected }
        for text in ["1", "2"] { try client.publishNewest(ByteBuffer(string: text), to: MQTTTopic(valid: text)) }
        let first = try await peer.message()
        client.stop()
        try await eventually("it takes no more") { !client.isConnected }
        try peer.write([0x40, 2] + first.identifier)
        let second = try await peer.message()
        #expect(second.topic == "2")
        try peer.write([0x40, 2] + second.identifier)
        #expect(try await peer.message() == MQTTPacket(first: 0xE0))
        peer.close()
        try await running.value
        #expect(record.names == ["connected", "ended: -"])
        let again = await mqttError { try await client.run() }
        #expect(again?.code == .alreadyStarted)
    }

    @Test(arguments: [0, 1, 2, 3])
    func stoppingWhileNotConnected(_ step: Int) async throws {
        let broker = try ScriptedBroker()
        let options = testOptions {
            $0.reconnection = EndlessDelays(every: .seconds(600))
            if step == 1 {
                $0.userName = "rob"
                $0.password = {
                    await Delay.wait(.seconds(600))
                    return nil
                }
            }
        }
        let client = MQTTClient(try MQTTAddress(broker.url), options: options)
        let record = Record(client)
        if step == 0 { client.stop() }
        let running = Task { try await client.run() }
        switch step {
        case 2: _ = try await broker.accept().packet()
        case 3:
            // The attempt after the first loss comes at once, the next one in ten minutes.
            for _ in 0..<2 { try await broker.accept().close() }
            try await eventually("it waits") { record.retries.count == 2 }
        default: break
        }
        client.stop()
        try await running.value
        #expect(record.names.last == "ended: -")
    }
}
