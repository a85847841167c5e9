import ElementalSecurity
import ElementalWire
import TestSupport
import Testing

@testable import Elemental

/// Peers of a service that offers encryption, before anything is known of them: what they say first, and what they may
/// cost.
struct UnauthorisedPeerTests {
    static let name: [UInt8] = [0xfe, 1, 0, 0, 0, 0x68]

    static func withService(
        _ policy: SecurityPolicy, _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: (_ ends: PairedEnds, _ service: ElementalService, _ port: Int) async throws -> Void
    ) async throws {
        let ends = try PairedEnds()
        try await ends.withService {
            if policy != .paired { $0.security = .pairedToControl(identity: ends.service, store: ends.serviceStore) }
            change(&$0)
        } _: { service, port in
            try await body(ends, service, port)
        }
    }

    /// What a client of this framework sends first.
    private static func clientHello() async throws -> [UInt8] {
        let ends = try PairedEnds()
        let (listener, port) = try RawSocket.listen()
        let connecting = Task { try? await ends.connect(port) }
        let bytes = try await listener.accept().readSome()
        connecting.cancel()
        _ = await connecting.value
        return bytes
    }

    // MARK: The first bytes

    @Test
    func aPlainClientIsServedAsEverWhereThePolicyAllowsIt() async throws {
        try await Self.withService(.pairedToControl) { _, service, port in
            let socket = try RawSocket.connect(to: port)
            try socket.write(Self.name)
            let frame = try await socket.readFrame()
            #expect(frame.id == SystemElement.udpIdentifier.rawValue)
            try await eventually { service.devices.map(\.name) == ["h"] }
            #expect(service.devices.map(\.grantedRole) == [.plain])
        }
    }

    @Test
    func aPlainClientThatWaitsGetsItsIdentifier() async throws {
        try await Self.withService(.pairedToControl) { _, _, port in
            let socket = try RawSocket.connect(to: port)
            #expect(try await socket.readFrame().id == SystemElement.udpIdentifier.rawValue)
            // From then on the connection is plain: this is a frame of 4 GB, not a ClientHello.
            try socket.write([0x16, 3, 1, 1, 0xff, 1])
            #expect(try await socket.readFrame().id == SystemElement.shutdown.rawValue)
        }
    }

    @Test(arguments: [UnauthorisedPeerTests.name, []])
    func aPlainClientOfAPairedServiceGetsTheAdviceAndNothingElse(_ bytes: [UInt8]) async throws {
        try await Self.withService(.paired) { _, service, port in
            let socket = try RawSocket.connect(to: port)
            try socket.write(bytes)
            let frame = try await socket.readFrame()
            #expect(frame.id == SystemElement.shutdown.rawValue)
            #expect(String(decoding: frame.value, as: UTF8.self).contains("elemental pair"))
            #expect(try await socket.readToEnd().isEmpty)
            #expect(service.devices.isEmpty)
        }
    }

    /// As a service does that has waited too long for the first bytes, which were lost on the way.
    @Test(arguments: [false, true])
    func aClientThatIsTakenForAPlainOneTriesOnceMore(pairs: Bool) async throws {
        let ends = try PairedEnds()
        let (listener, port) = try RawSocket.listen()
        let connecting = Task {
            guard pairs else { return _ = try await ends.connect(port) }
            var options = ConnectOptions.patientAtTheEnd
            options.security = ends.clientSecurity
            let place = ServicePlace.address(host: "127.0.0.1", port: port)
            _ = try await place.pair(as: "tester", options: options) { _ in nil }
        }
        for _ in 0..<2 {
            let socket = try await listener.accept()
            #expect(try await socket.readSome().first == 0x16)
            try socket.write([UInt8(bitPattern: SystemElement.shutdown.rawValue), 2, 0, 0, 0, 0x6e, 0x6f])
        }
        #expect(await errorCode { try await connecting.value } == .connectionFailed)
    }

    @Test
    func aClientHelloMayComeByteByByte() async throws {
        let hello = try await Self.clientHello()
        try await Self.withService(.paired) { _, _, port in
            let socket = try RawSocket.connect(to: port)
            for byte in hello { try socket.write([byte]) }
            // A handshake record with a ServerHello.
            let record = try await socket.read(6)
            #expect(record[0] == 0x16 && record[5] == 2)
        }
    }

    // MARK: Bounds

    @Test
    func connectionsOfOneHostAreBoundedAndOthersAreServed() async throws {
        try await Self.withService(.paired, { $0.limits.handshakeTimeout = Patience.wait * 10 }) { ends, _, port in
            var waiting = try (0..<8).map { _ in
                let socket = try RawSocket.connect(to: port, from: "127.0.0.9")
                // It could become a ClientHello.
                try socket.write([0x16, 3, 1])
                return socket
            }
            let device = try await ends.connect(port)
            let ninth = try RawSocket.connect(to: port, from: "127.0.0.9")
            #expect(try await ninth.readToEnd().isEmpty)
            #expect(try await device.ping() > .zero)
            // After one of them has left, the host is served again.
            waiting.removeLast()
            try await eventually {
                let late = try RawSocket.connect(to: port, from: "127.0.0.9")
                try? late.write(Self.name)
                return (try? await late.readFrame().id) == SystemElement.shutdown.rawValue
            }
            await device.close()
            withExtendedLifetime(waiting) {}
        }
    }

    @Test
    func whoNeverCompletesAClientHelloIsClosedInTime() async throws {
        try await Self.withService(.paired, { $0.limits.handshakeTimeout = .milliseconds(50) }) { _, _, port in
            let socket = try RawSocket.connect(to: port)
            try socket.write([0x16, 3, 1])
            #expect(try await socket.readToEnd().isEmpty)
        }
    }

    /// A flood of ClientHellos begins few handshakes, and leaves paired devices alone.
    @Test
    func handshakesOfOneHostAreBounded() async throws {
        let hello = try await Self.clientHello()
        try await Self.withService(.paired, { $0.acceptClock = AcceptClock.stopped() }) { ends, service, port in
            let device = try await ends.connect(port)
            var answered = 0
            for number in 0..<100 {
                let socket = try RawSocket.connect(to: port, from: "127.0.0.9")
                try? socket.write(hello)
                if (try? await socket.read(1)) == [0x16] { answered += 1 }
                if number.isMultiple(of: 10) { try await device.ping() }
            }
            #expect(answered == UnauthorisedConnections.handshakesPerSecond.perHost)
            // Another host is not affected.
            let other = try await ends.connect(port)
            #expect(service.devices.count == 2)
            for device in [device, other] { await device.close() }
        }
    }
}
