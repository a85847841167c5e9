import ElementalSecurity
import ElementalWire
import Foundation
import Support
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
        try await ElementalTests.withService {
            $0.security =
                policy == .paired
                ? ends.serviceSecurity : .pairedToControl(identity: ends.service, store: ends.serviceStore)
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

    @Test("16 03 is also the beginning of a plain frame")
    func aPlainFrameThatBeginsAsTLSDoes() async throws {
        try await Self.withService(.pairedToControl) { _, _, port in
            let socket = try RawSocket.connect(to: port)
            try socket.write([0x16, 3, 0, 0, 0, 1, 2, 3])
            #expect(try await socket.readFrame().id == SystemElement.udpIdentifier.rawValue)
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
    @Test
    func aClientThatIsTakenForAPlainOneTriesOnceMore() async throws {
        let ends = try PairedEnds()
        let (listener, port) = try RawSocket.listen()
        let connecting = Task { try await ends.connect(port) }
        for _ in 0..<2 {
            let socket = try await listener.accept()
            #expect(try await socket.readSome().first == 0x16)
            try socket.write([UInt8(bitPattern: SystemElement.shutdown.rawValue), 2, 0, 0, 0, 0x6e, 0x6f])
        }
        let error = await #expect(throws: ElementalError.self) { try await connecting.value }
        #expect(error?.code == .connectionFailed)
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
        try await Self.withService(.paired, { $0.limits.handshakeTimeout = .seconds(5) }) { ends, _, port in
            let waiting = try (0..<8).map { _ in
                let socket = try RawSocket.connect(to: port, from: "127.0.0.9")
                // It could become a ClientHello.
                try socket.write([0x16, 3, 1])
                return socket
            }
            let device = try await ends.connect(port)
            let ninth = try RawSocket.connect(to: port, from: "127.0.0.9")
            #expect(try await ninth.readToEnd().isEmpty)
            #expect(try await device.ping() > .zero)
            // They are closed in time, and the host is served again.
            for socket in waiting { #expect(try await socket.readToEnd().isEmpty) }
            let late = try RawSocket.connect(to: port, from: "127.0.0.9")
            try late.write(Self.name)
            #expect(try await late.readFrame().id == SystemElement.shutdown.rawValue)
            await device.close()
        }
    }

    @Test
    func handshakesOfOneHostAreBounded() async throws {
        let hello = try await Self.clientHello()
        try await Self.withService(.paired) { ends, _, port in
            let start = ContinuousClock.now
            var answered = 0
            for _ in 0..<30 {
                let socket = try RawSocket.connect(to: port, from: "127.0.0.9")
                try? socket.write(hello)
                if let bytes = try? await socket.read(1), bytes == [0x16] { answered += 1 }
            }
            let seconds = Int((ContinuousClock.now - start).components.seconds) + 1
            #expect(answered >= 1)
            #expect(answered <= 5 + 5 * seconds)
            // Another host is not concerned.
            let device = try await ends.connect(port)
            await device.close()
        }
    }

    /// Prints the times; that they are short is not tested, since the machine may be busy.
    @Test
    func aFloodOfClientHellosLeavesPairedDevicesAlone() async throws {
        let hello = try await Self.clientHello()
        try await Self.withService(.paired) { ends, service, port in
            let device = try await ends.connect(port)
            /// The times of pings at 120 Hz.
            func measure() async throws -> [Duration] {
                var times: [Duration] = []
                for _ in 0..<240 {
                    times.append(try await device.ping())
                    try await Task.sleep(for: .microseconds(8_333), clock: .suspending)
                }
                return times.sorted()
            }
            let quiet = try await measure()
            let flood = Flood(of: hello, to: port)
            let flooded = try await measure()
            let count = flood.stop()
            print(
                "cost: pings of a paired device at 120 Hz, p50 \(quiet[120]), p99 \(quiet[237]); with \(count) ClientHellos "
                    + "meanwhile: p50 \(flooded[120]), p99 \(flooded[237])")
            #expect(count > 0)
            #expect(service.devices.count == 1)
            await device.close()
        }
    }

    @Test
    func bytesBeforeAuthorisationAreBounded() async throws {
        try await Self.withService(.paired) { _, _, port in
            // An earlier connection, which may stay for as long, ends later.
            let earlier = try RawSocket.connect(to: port)
            try earlier.write([0x16, 3, 1])
            let socket = try RawSocket.connect(to: port)
            // A ClientHello of 16 KiB that never ends.
            try socket.write([0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc] + [UInt8](repeating: 3, count: 8 * 1024))
            let ended = Transcript<String>()
            async let first: Void = {
                _ = try? await earlier.readToEnd()
                ended.add("earlier")
            }()
            _ = try? await socket.readToEnd()
            ended.add("flooding")
            await first
            #expect(ended.all == ["flooding", "earlier"])
        }
    }
}

/// Connects again and again from another host, 2,000 times a second at most, and sends the same bytes.
private final class Flood: Sendable {
    private let state = Locked((count: 0, isStopped: false))

    init(of bytes: [UInt8], to port: Int) {
        Thread.detachNewThread { [state] in
            let start = ContinuousClock.now
            while !state.withLock({ $0.isStopped }) {
                if let socket = try? RawSocket.connect(to: port, from: "127.0.0.9") { try? socket.write(bytes) }
                let count = state.withLock { state in
                    state.count += 1
                    return state.count
                }
                let due = start + .microseconds(500 * count)
                let early = due - .now
                if early > .zero { usleep(UInt32(early.components.attoseconds / 1_000_000_000_000)) }
            }
        }
    }

    /// - Returns: how many connections there were.
    func stop() -> Int {
        state.withLock { state in
            state.isStopped = true
            return state.count
        }
    }
}
