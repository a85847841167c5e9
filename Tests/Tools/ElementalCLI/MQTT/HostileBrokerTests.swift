import Foundation
import TestSupport
import Testing

/// Brokers that send what no broker should: the bridge lives on, takes no more memory, and tries again.
struct HostileBrokerTests {
    /// What else breaks the protocol is tested with the client: `PacketCodecTests`, `ConnectingTests` and `FloodTests`.
    @Test(.backstop)
    func whatIsNoProtocolEndsTheConnectionAndTheBridgeTriesAgain() async throws {
        let broker = try ScriptedBroker()
        try await Robot.with { _, target in
            try await withCommand(["mqtt", target, "--broker", broker.url, "--control", "--json"]) { bridge in
                let first = try await broker.accept()
                #expect(try await first.packet().kind == .connect)
                try first.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
                let second = try await broker.session()
                let memory = try ProcessFigures(of: bridge).residentMemory
                // It may close before all of it has been sent.
                try? second.write([0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1] + [UInt8](repeating: 0x61, count: 8 << 20))
                // It comes back, and behaves to a broker that behaves.
                let third = try await broker.accept()
                try await third.serve { published, subscribed in
                    !subscribed.isEmpty && published.contains { $0.hasSuffix("/speed") }
                }
                expectMemory(try ProcessFigures(of: bridge).peakMemory - memory, below: 20_000)
                try await bridge.expectExit(after: SIGTERM)
            }
        }
    }

    @Test(.backstop)
    func aFloodOfWhatNobodySubscribedTo() async throws {
        let broker = try ScriptedBroker()
        try await Robot.with(["1:Speed:float:0...1=0.5"]) { service, target in
            let command = ["mqtt", target, "--broker", broker.url, "--control", "--json", "--rate", "0"]
            try await withCommand(command) { bridge in
                let peer = try await broker.accept()
                var speed = ""
                try await peer.serve { published, subscribed in
                    speed = published.first { $0.hasSuffix("/speed") } ?? ""
                    return !subscribed.isEmpty && !speed.isEmpty
                }
                let memory = try ProcessFigures(of: bridge).residentMemory
                let topics = [
                    "elemental/other/thing/speed/set", "homeassistant/device/x/config", "\u{1b}[2J\u{7}",
                    "\(speed)/set/set", "\(speed)/9/set", "\(speed)/-1/set", "\(speed)/0/set", "\(speed)", "/", "//set",
                    "homeassistant/device/elemental_a_b/config",
                ]
                let payload = Array("{\"cmps\":{\"1\":{\"p\":\"number\"}}}".utf8)
                var flood: [UInt8] = []
                for number in 0..<50_000 {
                    flood += BrokerPeer.publish(
                        topics[number % topics.count], payload,
                        identifier: number % 2 == 0 ? UInt16(truncatingIfNeeded: number | 1) : nil)
                }
                try peer.write(flood)
                // The flood is over when a command after it has arrived; it is handled once, though it comes twice.
                let command = BrokerPeer.publish("\(speed)/set", Array("0.25".utf8), identifier: 7)
                let again = BrokerPeer.publish("\(speed)/set", Array("0.25".utf8), identifier: 7, isDuplicate: true)
                try peer.write(command + again)
                try await service.nextEvent("value") { $0.number("value") == 0.25 }
                expectMemory(try ProcessFigures(of: bridge).peakMemory - memory, below: 30_000)
                // Nothing from outside reaches the terminal as it is.
                #expect(!bridge.lines(of: .output).contains { $0.contains("\u{1b}") })
                try await bridge.expectExit(after: SIGTERM)
                // The service was set to nothing else.
                let received = service.events("value")
                #expect(received.allSatisfy { $0.number("value") == 0.25 }, "\(service.transcript.suffix(2000))")
            }
        }
    }
}
