import ElementalWire
import Foundation
import TestSupport
import Testing

@testable import Elemental
@testable import ElementalSecurity

/// What somebody reads who has a copy of every packet.
@Suite(
    .enabled(if: SecurityPeers.areThere, "Tests/install security"),
    .enabled(if: geteuid() == 0, "packets are captured as root only"), .backstop)
struct CaptureTests {
    private static let upText = "the light in the nursery is on", downText = "the front door is open"
    private static let upMotion: Vector3 = [0.123_456_7, 2.345_678, -98.765_43]
    private static let downMotion: Vector3 = [-0.765_432_1, 87.654_32, 6.543_21]

    private static func bytes(_ vector: Vector3) -> [UInt8] {
        [vector.x, vector.y, vector.z].flatMap { number in
            withUnsafeBytes(of: number.bitPattern.littleEndian) { Array($0) }
        }
    }

    /// What is said over a connection and nobody else should read.
    private static let clear: [String: [UInt8]] = {
        var clear = [
            "a text to the service": Array(upText.utf8), "a text to the client": Array(downText.utf8),
            "a vector to the service": bytes(upMotion), "a vector to the client": bytes(downMotion),
            "the client's name": Array("tester".utf8),
        ]
        for element in Lamp.all.elements { clear["the element's name \(element.name)"] = Array(element.name.utf8) }
        return clear
    }()

    /// Connects to the service, controls it and is told values over both transports.
    private static func converse(_ service: ElementalService, _ device: ElementalDevice) async throws {
        let labels = (Transcript<String>(), Transcript<String>()),
            motions = (Transcript<Vector3>(), Transcript<Vector3>())
        service.onValue(of: Lamp.label) { value, _ in labels.0.add(value) }
        service.onValue(of: Lamp.motion) { value, _ in motions.0.add(value) }
        device.onValue(of: Lamp.label) { labels.1.add($0) }
        device.onValue(of: Lamp.motion) { motions.1.add($0) }
        try device.send(upText, to: Lamp.label)
        try device.send(upMotion, to: Lamp.motion)
        try await labels.0.wait(for: 1)
        try await motions.0.wait(for: 1)
        try service.send(downText, to: Lamp.label)
        try service.send(downMotion, to: Lamp.motion)
        try await labels.1.wait(for: 1)
        try await motions.1.wait(for: 1)
        await device.close()
    }

    /// How often each is in the packets of that port, and how many packets with contents there were.
    private static func count(
        _ wanted: [String: [UInt8]], in capture: ChildProcess
    ) async throws -> (counts: [String: Int], tcp: Int, udp: Int) {
        try capture.writeLine(wanted.values.map(Hexadecimal.text).joined(separator: " "))
        let end = try await capture.nextEvent("captured")
        #expect(end.number("lost") == 0)
        var found: [String: Int] = [:]
        for line in capture.lines(of: .output).compactMap({ JSONLine($0) }) where line.event == "found" {
            found[line["bytes"] ?? ""] = Int(line.number("count") ?? -1)
        }
        let counts = try wanted.mapValues { try #require(found[Hexadecimal.text($0)]) }
        return (counts, Int(end.number("tcp") ?? 0), Int(end.number("udp") ?? 0))
    }

    @Test
    func whoListensReadsNothing() async throws {
        try await Strangers.with { ends, service, port, secrets in
            try await SecurityPeers.with("capture.py", ["lo", "\(port)"]) { capture in
                try await capture.nextEvent("capturing")
                try service.openPairing(for: .seconds(3600))
                try await secrets.wait(for: 1)
                let code = try #require(secrets.all.first)
                _ = try await Strangers.pair(ends, port, with: code)
                try await Self.converse(service, try await Strangers.connect(ends, port))
                var secret = Self.clear
                secret["the code"] = code.bytes
                secret["the name of the service"] = Array("test".utf8)
                secret["the service's key"] = Array(ends.service.certificate.suffix(64))
                secret["the client's key"] = Array(ends.client.certificate.suffix(64))
                let (counts, tcp, udp) = try await Self.count(secret, in: capture)
                #expect(counts.filter { $0.value > 0 }.isEmpty)
                #expect(tcp > 10)
                #expect(udp >= 2)
            }
        }
    }

    /// That the search finds what is there.
    @Test
    func whoListensToAnOpenServiceReadsEverything() async throws {
        try await Strangers.with(.open) { ends, service, port, _ in
            try await SecurityPeers.with("capture.py", ["lo", "\(port)"]) { capture in
                try await capture.nextEvent("capturing")
                let device = try await Strangers.connect(ends, port) { $0.security = .automatic }
                try await Self.converse(service, device)
                let (counts, _, _) = try await Self.count(Self.clear, in: capture)
                #expect(counts.filter { $0.value == 0 }.isEmpty)
            }
        }
    }
}
