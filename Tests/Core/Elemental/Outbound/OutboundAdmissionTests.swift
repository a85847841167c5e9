import ElementalWire
import Testing

@testable import Elemental

/// Whether a value may be sent: each refusal once, and that a refused value is not queued.
struct OutboundAdmissionTests {
    typealias Fixture = OutboundFixture

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let element: ElementDefinition
        var length = 8
        let code: ElementalError.Code
        let text: String
        let prepare: @Sendable (inout Outbound<String>) throws -> Void

        init(
            _ description: String, _ element: ElementDefinition, length: Int = 8, _ code: ElementalError.Code,
            _ text: String, _ prepare: @escaping @Sendable (inout Outbound<String>) throws -> Void
        ) {
            testDescription = description
            self.element = element
            self.length = length
            self.code = code
            self.text = text
            self.prepare = prepare
        }
    }

    static let cases = [
        Case("before there is a connection", Fixture.plain, .notConnected, "is not connected") {
            $0 = Outbound(limit: 1000, readyByteCount: 1000)
        },
        Case("while it reconnects", Fixture.plain, .notConnected, "the device reconnects") {
            $0.close(Fixture.reason, willReconnect: true)
        },
        Case("while it closes", Fixture.plain, .notConnected, "has ended: closed by the peer") {
            $0.close(Fixture.reason, willReconnect: false)
        },
        Case("latest while it closes", Fixture.latest, .notConnected, "has ended") {
            $0.close(Fixture.reason, willReconnect: false)
        },
        Case("after its end", Fixture.latest, .notConnected, "has ended") {
            $0.close(Fixture.reason, willReconnect: true)
            $0.end(Fixture.reason)
        },
        Case("unknown element", Fixture.plain, .unknownElement, "'peer' has no element 1 ('element 1')") {
            $0.peer.leaveOut(IdentifierSet(1))
        },
        Case("unknown element while it reconnects", Fixture.latest, .unknownElement, "no element 3") {
            $0.peer.leaveOut(IdentifierSet(3))
            $0.close(Fixture.reason, willReconnect: true)
        },
        Case("empty value", Fixture.plain, length: 0, .emptyValue, "at least one byte") { $0.peer.emptyValues = false },
        Case("no UDP", Fixture.datagram, .udpUnavailable, "which this connection does not have: switched off") {
            $0.setDatagramState(.unavailable("switched off"))
        },
        Case("no UDP before or after", Fixture.latestDatagram, .udpUnavailable, "switched off") {
            $0.setDatagramState(.unavailable("switched off"))
            $0.close(Fixture.reason, willReconnect: true)
        },
        Case("too large for a datagram", Fixture.datagram, length: 65_502, .datagramTooLarge, "65501") { _ in },
        Case("latest too large for a datagram", Fixture.latestDatagram, length: 65_502, .datagramTooLarge, "65502") {
            $0.close(Fixture.reason, willReconnect: true)
        },
        Case("full stream", Fixture.plain, .queueFull, "95 bytes wait to be sent and the limit is 100") {
            $0 = Fixture.opened(limit: 100)
            try $0.send(Fixture.other, [UInt8](repeating: 0, count: 90))
        },
        Case("full datagrams", Fixture.datagram, .queueFull, "96 bytes wait to be sent and the limit is 100") {
            $0 = Fixture.opened(limit: 100)
            try $0.send(Fixture.datagram, [UInt8](repeating: 0, count: 90))
        },
        Case("full pieces", Fixture.plain, .queueFull, "200000 bytes wait to be sent and the limit is 100") {
            $0 = Fixture.opened(limit: 100)
            try $0.send(Fixture.plain, [UInt8](repeating: 0, count: 200_000))
        },
    ]

    @Test(arguments: cases)
    func refuses(_ test: Case) throws {
        var machine = Fixture.opened()
        // Where nothing is to be decided, what is to be refused is decided all the same.
        for _ in 0..<3 { try machine.send(Fixture.plain, [1]) }
        #expect(machine.sendClear(Fixture.plain, [1]) == true)
        try test.prepare(&machine)
        let before = machine.messagesUnsent
        do {
            try machine.send(test.element, [UInt8](repeating: 0, count: test.length))
            Issue.record("it was queued")
        } catch let refusal as SendRefusal {
            let error = refusal.error(for: test.element, length: test.length, to: "peer")
            #expect(error.code == test.code)
            #expect(error.message.contains(test.text), "\(error.message)")
        }
        #expect(machine.messagesUnsent == before)
    }

    @Test
    func acceptedValuesAreQueued() throws {
        var machine = Fixture.opened(limit: 1000)
        func route(_ element: ElementDefinition, _ length: Int) throws -> Outbound<String>.Route {
            try machine.admit(element.id, over: element.transport, isLatest: element.latest, length: length)
        }
        #expect(try route(Fixture.plain, 8) == .stream)
        #expect(try route(Fixture.plain, Envelope.wholeByteCount) == .stream)
        #expect(try route(Fixture.plain, Envelope.wholeByteCount + 1) == .pieces)
        #expect(try route(Fixture.datagram, 65_501) == .datagrams)
        #expect(try route(Fixture.latest, 100_000_000) == .latest)
        #expect(try route(Fixture.latestDatagram, 8) == .latest)
        try machine.send(Fixture.plain, [UInt8](repeating: 0, count: 200_000))
        #expect(try route(Fixture.other, 8) == .stream)
        machine.pieces = nil
        machine.appendPieces(1, .init())
        // Behind a large value of its element.
        #expect(try route(Fixture.plain, 8) == .pieces)
        machine.close(Fixture.reason, willReconnect: true)
        #expect(try route(Fixture.latest, 8) == .kept)
        #expect(try route(Fixture.latestDatagram, 8) == .kept)
    }

    /// A sender that waited for room and goes on is not refused for want of it, whatever the lengths and limits.
    @Test(arguments: [10, 100, 5000, 300_000])
    func aSenderThatHasWaitedForRoomIsNotRefused(limit: Int) throws {
        for waiting in [0, 1, limit / 16, limit / 8, limit / 2, limit, limit + 200_000] {
            for length in [1, limit / 2, limit - 12, limit, limit * 2, 140_000, 200_000] where length > 0 {
                for pieces in [false, true] {
                    var machine = Fixture.opened(limit: limit, ready: limit, pieces: pieces)
                    if waiting > 0 { try machine.send(Fixture.other, [UInt8](repeating: 0, count: waiting)) }
                    let need = machine.need(for: length, of: Fixture.plain.id)
                    guard machine.isMet(need) else { continue }
                    #expect(throws: Never.self) {
                        try machine.send(Fixture.plain, [UInt8](repeating: 0, count: length))
                    }
                }
            }
        }
    }

    @Test
    func aPingHasItsOwnRefusalMessage() {
        var machine = Fixture.opened()
        machine.setDatagramState(.unavailable("switched off"))
        do throws(SendRefusal) {
            _ = try machine.appendRequest(.ping, [1], over: .udp)
            Issue.record("it was queued")
        } catch {
            let message = error.error(for: nil, length: 1, to: "peer").message
            #expect(message == "a ping uses UDP, which this connection does not have: switched off")
        }
    }
}
