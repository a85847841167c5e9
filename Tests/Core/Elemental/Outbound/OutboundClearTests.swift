import ElementalWire
import Testing

@testable import Elemental

/// Values of a burst that are queued with nothing to decide.
struct OutboundClearTests {
    typealias Fixture = OutboundFixture

    /// One that a burst has begun on.
    private static func inBurst(ready: Int = 256 * 1024) throws -> Fixture.Machine {
        var machine = Fixture.opened(ready: ready)
        // The first wakes the connection, the second finds that a flush will follow.
        #expect(try machine.send(Fixture.plain, [0]) == "link")
        #expect(try machine.send(Fixture.plain, [1]) == nil)
        return machine
    }

    @Test
    func theFirstValuesAreDecidedOn() throws {
        var machine = Fixture.opened()
        #expect(machine.sendClear(Fixture.plain, [0]) == false)
        try machine.send(Fixture.plain, [0])
        #expect(machine.sendClear(Fixture.plain, [1]) == false)
        try machine.send(Fixture.plain, [1])
        #expect(machine.sendClear(Fixture.other, [2]) == true)
        #expect(machine.counts.messagesSent == 3)
        #expect(machine.counts.bytesSent == 18)
        #expect(
            machine.writeAll() == [OutboundMessage(1, [0]), OutboundMessage(1, [1]), OutboundMessage(2, [2])])
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout Fixture.Machine) throws -> Void
    }

    static let cases = [
        Case(testDescription: "lost") { $0.close(Fixture.reason, willReconnect: true) },
        Case(testDescription: "ended") { $0.close(Fixture.reason, willReconnect: false) },
        Case(testDescription: "discarded") { $0.discardQueues(unwritten: 0) },
        Case(testDescription: "a large value") { try $0.send(Fixture.other, [UInt8](repeating: 0, count: 200_000)) },
        Case(testDescription: "written") { _ = $0.writeAll() },
        Case(testDescription: "a segment taken") { _ = $0.nextStreamStep(written: 0) },
        Case(testDescription: "gathered") { _ = $0.nextStreamStep(written: 256) },
        Case(testDescription: "blocked") { $0.stream.flush = .blocked },
        Case(testDescription: "written by the sender") { _ = $0.claim(.tcp) },
    ]

    @Test(arguments: cases)
    func whateverItDependsOnEndsIt(_ test: Case) throws {
        var machine = try Self.inBurst()
        #expect(machine.sendClear(Fixture.plain, [2]) == true)
        try test.change(&machine)
        #expect(machine.sendClear(Fixture.plain, [3]) == false)
    }

    @Test
    func itIsForPlainValuesOnly() throws {
        var machine = try Self.inBurst()
        machine.peer.leaveOut(IdentifierSet(Fixture.other.id))
        #expect(machine.sendClear(Fixture.other, [2]) == false)
        #expect(machine.sendClear(Fixture.plain, []) == false)
        #expect(machine.sendClear(Fixture.latest, [2]) == false)
        #expect(machine.sendClear(Fixture.datagram, [2]) == false)
        #expect(machine.counts.messagesSent == 2)
        #expect(machine.sendClear(Fixture.plain, [2]) == true)
    }

    /// A queue reaches its thresholds by a value that is decided on: a sender that can wait is told to, and values that are
    /// gathered are written.
    @Test(arguments: [1, 95, 4000])
    func itEndsBelowTheThresholds(length: Int) throws {
        let value = [UInt8](repeating: 0, count: length)
        for ready in [300, 20_000, 256 * 1024] {
            var machine = try Self.inBurst(ready: ready)
            while machine.stream.byteCount < ready {
                if machine.sendClear(Fixture.plain, value) {
                    #expect(machine.stream.byteCount < ready)
                } else {
                    try machine.send(Fixture.plain, value)
                }
            }
            machine = try Self.inBurst(ready: ready)
            guard case .gather = machine.nextStreamStep(written: 256) else { continue }
            var isWoken = false
            while !isWoken, machine.stream.byteCount < machine.gatheringByteCount + 5000 {
                if machine.sendClear(Fixture.plain, value) {
                    #expect(machine.stream.byteCount < machine.gatheringByteCount)
                } else {
                    isWoken = try machine.send(Fixture.plain, value) != nil
                }
            }
            #expect(isWoken)
        }
    }
}
