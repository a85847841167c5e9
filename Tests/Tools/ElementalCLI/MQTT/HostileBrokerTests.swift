import Foundation
import TestSupport
import Testing

/// Brokers that send what no broker should: the bridge lives on, takes no more memory, and tries again.
struct HostileBrokerTests {
    /// What comes in place of an answer to the connection, and after a good one.
    enum Attack: String, CaseIterable, CustomTestStringConvertible {
        case noise, giantLength, endlessLength, hugeMessage, shortAnswer, wrongKind, truncatedTopic, invalidTopic
        case answerNobodyAskedFor, qualityOfService3, emptyTopic

        var testDescription: String { rawValue }

        var isAfterAGoodAnswer: Bool {
            switch self {
            case .noise, .shortAnswer, .wrongKind: false
            default: true
            }
        }

        var bytes: [UInt8] {
            switch self {
            case .noise: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
            case .giantLength: [0x30, 0xFF, 0xFF, 0xFF, 0x7F]
            case .endlessLength: [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
            case .hugeMessage: [0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1, 0x61] + [UInt8](repeating: 0x61, count: 8 << 20)
            case .shortAnswer: [0x20, 0]
            case .wrongKind: [0x30, 3, 0, 1, 0x61]
            case .truncatedTopic: [0x30, 2, 0xFF, 0xFF]
            case .invalidTopic: BrokerPeer.publish("a", [1]).map { $0 == 0x61 ? 0xFF : $0 }
            case .answerNobodyAskedFor: [0x40, 2, 0x12, 0x34, 0x90, 3, 0x55, 0x55, 1, 0x40, 2, 0, 0]
            case .qualityOfService3: [0x36, 6, 0, 1, 0x61, 0, 1, 0x61]
            case .emptyTopic: BrokerPeer.publish("", [0x61])
            }
        }
    }

    @Test(.backstop, arguments: Attack.allCases)
    func malformedPackets(attack: Attack) async throws {
        let broker = try ScriptedBroker()
        try await Robot.with(["1:Speed:float=0.5"]) { service, target in
            try await withCommand(["mqtt", target, "--broker", broker.url, "--control", "--json"]) { bridge in
                let first = try await broker.accept()
                #expect(try await first.packet().kind == .connect)
                if attack.isAfterAGoodAnswer { try first.write(BrokerPeer.accepted) }
                // It may close before all of it has been sent.
                try? first.write(attack.bytes)
                // It comes back, and behaves to a broker that behaves; or it has borne what came.
                if attack == .answerNobodyAskedFor || attack == .giantLength {
                    try? first.write([UInt8](repeating: 0, count: 64))
                }
                let memory = try ProcessFigures(of: bridge).residentMemory
                let second = try await broker.accept()
                try await second.serve { published, subscribed in
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
            let command = [
                "mqtt", target, "--broker", broker.url, "--control", "--json", "--rate", "0",
            ]
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
