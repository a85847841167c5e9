import ElementalSecurity
import ElementalWire
import NIOCore
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
            #expect(device.statistics.datagramsDropped == 0)
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
            try await eventually { service.devices.first?.statistics.datagramsDropped == 1 }
            #expect(service.devices.count == 1)
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
            let reason = await device.waitUntilDisconnected()
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
        #expect(throws: SendRefusal.self) {
            try machine.send(long.definition, [UInt8](repeating: 0, count: most + 1))
        }
        _ = try machine.send(long.definition, [UInt8](repeating: 0, count: most))
    }
}
