import ElementalWire
import Foundation
import Testing

@testable import Elemental

/// A connection that is lost, and the next one.
struct OutboundAbsenceTests {
    typealias Fixture = OutboundFixture

    /// The next connection, whose peer says hello.
    private func reopen(_ machine: inout Outbound<String>, udp: Bool = true) {
        machine.peer.emptyValues = true
        machine.peer.pieces = true
        machine.setDatagramState(udp ? .open(udpIdentifier: 7) : .unavailable("switched off"))
        machine.open("second", hasHello: true)
    }

    @Test
    func theNewestValuesWaitForTheNextConnection() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        try machine.send(Fixture.latest, [2])
        try machine.send(Fixture.latestDatagram, [3])
        machine.close(Fixture.reason, willReconnect: true)
        #expect(machine.isAway)
        #expect(machine.link == nil)
        // What still leaves may not be read.
        #expect(machine.writeAll() == [OutboundMessage(1, [1])])
        #expect(machine.writeAllDatagrams().isEmpty)
        machine.discardQueues(unwritten: 0)
        #expect(machine.keptCount == 2)
        #expect(try machine.send(Fixture.latest, [4, 4]) == nil)
        #expect(try machine.send(Fixture.otherLatest, [5]) == nil)
        #expect(machine.counts.messagesReplaced == 1)
        #expect(machine.messagesUnsent == 3)
        reopen(&machine)
        #expect(machine.link == "second")
        #expect(machine.writeAll() == [OutboundMessage(3, [4, 4]), OutboundMessage(6, [5])])
        #expect(machine.writeAllDatagrams() == [[OutboundMessage(5, [3])]])
        #expect(machine.messagesUnsent == 0)
        #expect(machine.counts.messagesSent == 5)
    }

    @Test
    func whatTheNextPeerDoesNotTakeIsLost() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.latest, [])
        try machine.send(Fixture.latestDatagram, [1])
        try machine.send(Fixture.otherLatest, [2])
        machine.close(Fixture.reason, willReconnect: true)
        machine.discardQueues(unwritten: 0)
        // It has not said hello.
        machine.setDatagramState(.unavailable("switched off"))
        machine.open("second", hasHello: false)
        #expect(machine.writeAll() == [OutboundMessage(6, [2])])
        #expect(machine.counts.messagesLost == 2)
        #expect(machine.messagesUnsent == 2)
    }

    @Test
    func whatWaitedIsCountedWhenTheConnectionIsGone() throws {
        var machine = Fixture.opened()
        for _ in 0..<3 { try machine.send(Fixture.plain, [1]) }
        try machine.send(Fixture.plain, [UInt8](repeating: 0, count: 200_000))
        try machine.send(Fixture.datagram, [1])
        try machine.send(Fixture.latest, [1])
        machine.stream.flush = .blocked
        machine.close(Fixture.reason, willReconnect: false)
        machine.discardQueues(unwritten: 2)
        #expect(machine.counts.messagesLost == 8)
        #expect(machine.messagesWaiting == 0)
        #expect(machine.stream.flush == .idle)
        #expect(machine.datagrams.flush == .idle)
        if case .open = machine.datagramState { Issue.record("datagrams can still be sent") }
    }

    @Test
    func aConnectionThatWasNeverReadyLosesNothingOfTheUsers() {
        var machine = Outbound<String>(limit: 1000, readyByteCount: 1000)
        [1].withUnsafeBytes { machine.appendSystem(.deviceName, $0) }
        machine.close(Fixture.reason, willReconnect: true)
        machine.discardQueues(unwritten: nil)
        #expect(machine.counts.messagesLost == 0)
        #expect(!machine.isAway)
    }

    @Test
    func whenTheDeviceIsOverWhatWasKeptIsLost() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.latest, [2])
        machine.close(Fixture.reason, willReconnect: true)
        machine.discardQueues(unwritten: 0)
        machine.end(Fixture.reason)
        #expect(!machine.isAway)
        #expect(machine.keptCount == 0)
        #expect(machine.messagesUnsent == 1)
        // It may be connected again by hand.
        reopen(&machine)
        #expect(machine.writeAll().isEmpty)
        #expect(try machine.send(Fixture.plain, [1]) == "second")
    }

    @Test
    func currentValuesAreQueuedUncounted() {
        var machine = Fixture.opened(limit: 100)
        let bytes = [UInt8](repeating: 1, count: 90)
        for id in Int8(1)...3 { bytes.withUnsafeBytes { machine.appendCurrent(id, $0) } }
        machine.appendCurrent(4, long: Data(count: 20_000))
        machine.appendCurrent(5, long: Data(count: 140_000))
        let written = machine.writeAllAcknowledged().map(\.id)
        #expect(written.prefix(4) == [1, 2, 3, 4])
        #expect(written.count > 5)
        #expect(written.dropFirst(4).allSatisfy { $0 == SystemElement.piece.rawValue })
        #expect(machine.counts.messagesSent == 0)
    }
}
