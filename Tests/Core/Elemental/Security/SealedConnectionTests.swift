import ElementalSecurity
import ElementalWire
import Foundation
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Elemental

/// Datagrams of encrypted connections.
struct SealedConnectionTests {
    @Test
    func valuesGoSealedBothWays() async throws {
        let ends = try PairedEnds()
        try await ends.withPair { service, device in
            #expect(device.udpIdentifier != 0)
            let received = Transcript<Vector3>()
            service.onValue(of: Lamp.motion) { value, _ in received.add(value) }
            let answers = Transcript<Vector3>()
            device.onValue(of: Lamp.motion) { answers.add($0) }
            for number in 0..<100 {
                try device.send([Float(number), 0, 0], to: Lamp.motion)
                try await received.wait(for: number + 1)
            }
            #expect(received.all.map(\.x) == (0..<100).map { Float($0) })
            try service.send([7, 8, 9], to: Lamp.motion)
            try await answers.wait(for: 1)
            #expect(answers.all == [[7, 8, 9]])
            #expect(device.statistics.datagramsDropped == 0 && device.statistics.datagramsForged == 0)
            #expect(try await device.ping(over: .udp) > .zero)
        }
    }

    /// Whoever knows the identifier and has the client's address can send what he likes.
    @Test
    func whatIsNotSealedByTheClientCountsForNothing() async throws {
        let ends = try PairedEnds()
        try await ends.withService { service, port in
            let device = try await ends.connect(port)
            let received = Transcript<Vector3>()
            service.onValue(of: Lamp.motion) { value, _ in received.add(value) }
            let attacker = try RawSocket.datagram()
            let identifier = device.udpIdentifier
            let plain: [UInt8] = [2, 12, 0, 0, 0, identifier] + [UInt8](repeating: 0, count: 12)
            let sealed = [SealedDatagram.mark, identifier] + [UInt8](repeating: 0, count: 50)
            let short = [SealedDatagram.mark]
            let other = [SealedDatagram.mark, identifier &+ 1] + [UInt8](repeating: 0, count: 50)
            for datagram in [plain, sealed, short, other, []] { try attacker.send(datagram: datagram, to: port) }
            // What the client seals afterwards is received afterwards.
            try device.send([1, 2, 3], to: Lamp.motion)
            try await received.wait(for: 1)
            #expect(received.all == [[1, 2, 3]])
            try await eventually { service.devices.first?.statistics.datagramsForged == 1 }
            #expect(service.devices.count == 1)
            await device.close()
        }
    }

    /// What the system holds of the datagrams for an IPv4 port.
    private static func unreadByteCount(ofDatagramsAt port: Int) throws -> Int {
        let suffix = String(format: ":%04X", port)
        // String's own reading takes 4 KiB of such a file.
        let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/net/udp"))
        let lines = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n").dropFirst()
        return lines.map { $0.split(separator: " ") }.filter { $0[1].hasSuffix(suffix) }
            .reduce(0) { $0 + (Int($1[4].split(separator: ":")[1], radix: 16) ?? 0) }
    }

    /// A flood from another host costs the client no more datagrams than one that has nothing to do with it.
    @Test(.backstop)
    func aFloodOfForgeriesLosesNoMoreThanAFloodOfNoDevice() async throws {
        let ends = try PairedEnds()
        try await ends.withService { service, port in
            let device = try await ends.connect(port)
            let received = Atomic(0)
            service.onValue(of: Lamp.motion) { _, _ in received.add(1, ordering: .relaxed) }
            let forger = try RawSocket.datagram(address: "127.0.0.9")
            /// - Returns: how many of 250 datagrams were lost.
            func flood(_ identifier: UInt8) async throws -> Int {
                let before = received.load(ordering: .relaxed)
                for number in 0..<250 {
                    for forgery in 0..<100 {
                        let counter = 1000 + 100 * number + forgery
                        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: counter >> (8 * $0)) }
                        let sealed = [SealedDatagram.mark, identifier] + bytes
                        try forger.send(datagram: sealed + [UInt8](repeating: 1, count: 40), to: port)
                    }
                    try device.send([Float(number), 0, 0], to: Lamp.motion)
                    // The socket's buffer never overflows.
                    try await eventually { try Self.unreadByteCount(ofDatagramsAt: port) == 0 }
                }
                try await device.ping()
                return 250 - (received.load(ordering: .relaxed) - before)
            }
            let unknown = try await flood(device.udpIdentifier &+ 1)
            let known = try await flood(device.udpIdentifier)
            #expect(known <= unknown)
            await device.close()
        }
    }

    @Test
    func aSecondSecretEndsTheConnection() async throws {
        let ends = try PairedEnds()
        try await ends.withPair { service, device in
            let secret = [1] + [UInt8](repeating: 5, count: 32)
            device.outbound.withLock { outbound in
                secret.withUnsafeBytes { outbound.appendSystem(.datagramSecret, $0) }
            }
            device.wake()
            let reason = try await device.waitUntilDisconnected()
            #expect("\(reason)".contains("secret"), "\(reason)")
        }
    }

    @Test
    func onAPlainConnectionASecretMeansNothing() async throws {
        try await withPair { service, device in
            let secret = [1] + [UInt8](repeating: 5, count: 32)
            device.outbound.withLock { outbound in
                secret.withUnsafeBytes { outbound.appendSystem(.datagramSecret, $0) }
            }
            device.wake()
            try await device.ping()
            #expect(service.devices.first?.statistics.messagesUnknown == 1)
        }
    }

    @Test
    func withoutUDPThereIsNoSecret() async throws {
        let ends = try PairedEnds()
        try await ends.withPair { configuration in
            configuration.allowsUDP = false
        } _: { _, device in
            #expect(device.udpIdentifier == 0)
            #expect(throws: ElementalError.self) { try device.send([1, 2, 3], to: Lamp.motion) }
        }
    }

    @Test
    func theLongestValueIsShorterByTheSeal() async throws {
        let long = Element<Data>(100, "Long", transport: .udp)
        var machine = OutboundFixture.opened()
        machine.datagramOverhead = SealedDatagram.overhead
        let most = Envelope.maximumDatagramValueByteCount - SealedDatagram.overhead
        let refusal = #expect(throws: SendRefusal.self) {
            try machine.send(long.definition, [UInt8](repeating: 0, count: most + 1))
        }
        let text = refusal?.error(for: long.definition, length: most + 1, to: "peer").message
        #expect(text?.contains("whose maximum is \(most);") == true, "\(text ?? "")")
        _ = try machine.send(long.definition, [UInt8](repeating: 0, count: most))
    }
}
