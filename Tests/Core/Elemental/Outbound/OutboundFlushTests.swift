import ElementalWire
import NIOCore
import Support
import Testing

@testable import Elemental

/// When the connection is woken, and what a flush does.
struct OutboundFlushTests {
    typealias Fixture = OutboundFixture

    @Test
    func onlyTheFirstValueWakesTheConnection() throws {
        var machine = Fixture.opened()
        #expect(try machine.send(Fixture.plain, [1]) == "link")
        #expect(try machine.send(Fixture.plain, [2]) == nil)
        #expect(try machine.send(Fixture.latest, [3]) == nil)
        #expect(machine.writeAll().count == 3)
        #expect(machine.stream.flush == .idle)
        #expect(try machine.send(Fixture.latest, [4]) == "link")
    }

    @Test
    func aValueThatComesDuringAFlushIsSeenByIt() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        guard case .write(_, isMoreQueued: false) = machine.nextStreamStep(written: 0) else {
            Issue.record("nothing to write")
            return
        }
        #expect(try machine.send(Fixture.plain, [2]) == nil)
        #expect(machine.writeAll() == [OutboundMessage(1, [2])])
    }

    @Test
    func valuesThatPourInAreGatheredToASegment() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        guard case .gather = machine.nextStreamStep(written: 256) else {
            Issue.record("nothing is gathered")
            return
        }
        #expect(machine.stream.flush == .gathering)
        #expect(machine.isStreamUnsent)
        var wakes = 0
        while machine.stream.byteCount < 2 * 64 * 1024 {
            if try machine.send(Fixture.plain, [UInt8](repeating: 0, count: 95)) != nil {
                wakes += 1
                #expect(machine.stream.byteCount >= 64 * 1024)
            }
        }
        #expect(wakes == 1)
        // The timer's flush writes what there is.
        #expect(machine.writeAll().count > 1)
        #expect(machine.stream.flush == .idle)
    }

    @Test
    func gatheringStaysBelowATightLimit() {
        #expect(Fixture.opened().gatheringByteCount == 64 * 1024)
        #expect(Fixture.opened(limit: 1000).gatheringByteCount == 250)
    }

    @Test
    func whileTheSocketIsFullNothingIsTakenAndNobodyWoken() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        machine.stream.flush = .blocked
        #expect(machine.writeAll().isEmpty)
        #expect(try machine.send(Fixture.plain, [2]) == nil)
        // A flush that the owner promised does not make room.
        machine.stream.flush.schedule()
        #expect(machine.stream.flush == .blocked)
        #expect(machine.isStreamUnsent)
        machine.stream.flush.unblock()
        #expect(machine.stream.flush == .scheduled)
        #expect(machine.writeAll().count == 2)
    }

    @Test
    func datagramsLeaveWhileTheStreamIsBlocked() throws {
        var machine = Fixture.opened()
        machine.stream.flush = .blocked
        #expect(try machine.send(Fixture.datagram, [1]) == "link")
        #expect(try machine.send(Fixture.datagram, [2]) == nil)
        #expect(machine.findPendingWork().contains(.datagrams))
        #expect(machine.writeAllDatagrams() == [[OutboundMessage(4, [1]), OutboundMessage(4, [2])]])
        #expect(machine.datagrams.flush == .idle)
    }

    @Test
    func aDatagramThatFoundNoRoomIsTheNext() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.datagram, [1])
        let segment = try unwrap(machine.nextDatagram())
        machine.returnDatagram(segment)
        #expect(try machine.send(Fixture.datagram, [2]) == nil)
        #expect(machine.nextDatagram() == nil)
        #expect(machine.messagesWaiting == 2)
        #expect(!machine.isMet(.nothingUnsent))
        machine.datagrams.flush.unblock()
        #expect(machine.writeAllDatagrams() == [[OutboundMessage(4, [1])], [OutboundMessage(4, [2])]])
        #expect(machine.findPendingWork().isDisjoint(with: [.datagrams, .stream]))
    }

    @Test
    func theWatermarksStopAndStartSenders() throws {
        var machine = Fixture.opened(limit: 8000, ready: 800)
        let congestion = Congestion()
        try machine.send(Fixture.plain, [UInt8](repeating: 0, count: 794))
        congestion.note(machine, after: .tcp)
        #expect(flags(congestion) == [false, false])
        try machine.send(Fixture.plain, [1])
        congestion.note(machine, after: .tcp)
        #expect(flags(congestion) == [true, false])
        #expect(!machine.isMet(machine.need(for: 1, of: nil)))
        #expect(machine.takeWaiters(congestion).isEmpty)
        #expect(flags(congestion) == [true, false])
        _ = machine.writeAll()
        #expect(machine.isMet(machine.need(for: 1, of: nil)))
        _ = machine.takeWaiters(congestion)
        #expect(flags(congestion) == [false, false])
        try machine.send(Fixture.plain, [UInt8](repeating: 0, count: 200_000))
        congestion.note(machine, after: .tcp)
        #expect(flags(congestion) == [false, true])
    }

    private func flags(_ congestion: borrowing Congestion) -> [Bool] { [congestion.isStream, congestion.isPieces] }

    @Test
    func aThreadThatHasClaimedTheStreamWritesAlone() throws {
        var machine = Fixture.opened()
        #expect(try machine.send(Fixture.plain, [1]) == "link")
        let claim = try unwrap(machine.claim(.tcp))
        #expect(machine.writeAll().isEmpty)
        #expect(machine.isStreamUnsent)
        machine.stream.flush.schedule()
        var segment = try unwrap(machine.takeDirectly(claim, over: .tcp))
        #expect(machine.messagesWaiting == 1)
        let byteCount = segment.write { first, _ in first.count }
        #expect(byteCount == 6)
        #expect(try !unwrap(machine.endDirectWrite(claim, segment, over: .tcp)))
        #expect(machine.stream.flush == .idle)
        #expect(machine.messagesWaiting == 0)
        #expect(machine.stream.directByteCount == 6)
        #expect(try machine.send(Fixture.plain, [2]) == "link")
    }

    @Test
    func whatTheThreadCannotWriteAndWhatIsQueuedMeanwhileIsWrittenByTheLoop() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        let claim = try unwrap(machine.claim(.tcp))
        var segment = try unwrap(machine.takeDirectly(claim, over: .tcp))
        var written: [UInt8] = []
        _ = segment.write { first, _ in
            written = Array(first.prefix(4))
            return 4
        }
        #expect(try machine.send(Fixture.plain, [2]) == nil)
        #expect(try unwrap(machine.endDirectWrite(claim, segment, over: .tcp)))
        #expect(machine.messagesWaiting == 2)
        guard case .write(var rest, _) = machine.nextStreamStep(written: 0) else {
            Issue.record("the rest is lost")
            return
        }
        while !rest.isComplete { written += Array(buffer: rest.takePiece()) }
        #expect(OutboundMessage.all(in: written) == [OutboundMessage(1, [1])])
        #expect(machine.writeAll() == [OutboundMessage(1, [2])])
    }

    @Test
    func whatIsLongOrInPiecesIsLeftToTheLoop() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [UInt8](repeating: 0, count: 20_000))
        let claim = try unwrap(machine.claim(.tcp))
        let taken = machine.takeDirectly(claim, over: .tcp)
        #expect(taken == nil)
        #expect(try unwrap(machine.endDirectWrite(claim, nil, over: .tcp)))
        #expect(!machine.writeAll().isEmpty)
        try machine.send(Fixture.plain, [UInt8](repeating: 0, count: 200_000))
        let none = machine.claim(.tcp)
        #expect(none == nil)
        #expect(!machine.writeAll().isEmpty)
    }

    @Test
    func aClaimEndsWithItsConnection() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        let claim = try unwrap(machine.claim(.tcp))
        let segment = try unwrap(machine.takeDirectly(claim, over: .tcp))
        machine.close(Fixture.reason, willReconnect: true)
        #expect(machine.writeAll().isEmpty)
        machine.discardQueues(unwritten: 0)
        #expect(machine.counts.messagesLost == 1)
        machine.open("next", hasHello: true)
        #expect(try machine.send(Fixture.plain, [2]) == "next")
        #expect(try !unwrap(machine.endDirectWrite(claim, segment, over: .tcp)))
        let taken = machine.takeDirectly(claim, over: .tcp)
        #expect(taken == nil)
        #expect(machine.writeAll() == [OutboundMessage(1, [2])])
    }

    @Test
    func anOldClaimDoesNotDisturbTheNext() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        let old = try unwrap(machine.claim(.tcp))
        machine.close(Fixture.reason, willReconnect: true)
        machine.discardQueues(unwritten: 0)
        machine.open("next", hasHello: true)
        try machine.send(Fixture.plain, [2])
        let claim = try unwrap(machine.claim(.tcp))
        let none = machine.takeDirectly(old, over: .tcp)
        #expect(none == nil)
        #expect(try !unwrap(machine.endDirectWrite(old, nil, over: .tcp)))
        #expect(machine.stream.flush == .direct)
        let segment = machine.takeDirectly(claim, over: .tcp)
        #expect(segment != nil)
    }

    @Test
    func whoeverWaitsWhileAThreadWritesIsWokenByTheLoop() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.plain, [1])
        let claim = try unwrap(machine.claim(.tcp))
        var segment = try unwrap(machine.takeDirectly(claim, over: .tcp))
        _ = segment.write { first, _ in first.count }
        machine.close(Fixture.reason, willReconnect: false)
        #expect(try unwrap(machine.endDirectWrite(claim, segment, over: .tcp)))
    }

    @Test
    func aThreadThatHasClaimedTheDatagramsSendsAlone() throws {
        var machine = Fixture.opened()
        #expect(try machine.send(Fixture.datagram, [1]) == "link")
        let claim = try unwrap(machine.claim(.udp))
        #expect(machine.writeAllDatagrams().isEmpty)
        #expect(try machine.send(Fixture.plain, [2]) == "link")
        #expect(machine.writeAll() == [OutboundMessage(1, [2])])
        var segment = try unwrap(machine.takeDirectly(claim, over: .udp))
        #expect(OutboundMessage.all(inDatagram: segment.buffer) == [OutboundMessage(4, [1])])
        segment.write { first, _ in first.count }
        #expect(machine.messagesWaiting == 1)
        #expect(!machine.isMet(.nothingUnsent))
        #expect(try !unwrap(machine.endDirectWrite(claim, segment, over: .udp)))
        #expect(machine.datagrams.flush == .idle)
        #expect(machine.messagesWaiting == 0)
        #expect(machine.isMet(.nothingUnsent))
        #expect(try machine.send(Fixture.datagram, [3]) == "link")
    }

    @Test
    func aDatagramThatTheThreadCannotSendAndWhatIsQueuedMeanwhileIsSentByTheLoop() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.datagram, [1])
        let claim = try unwrap(machine.claim(.udp))
        let segment = try unwrap(machine.takeDirectly(claim, over: .udp))
        #expect(try machine.send(Fixture.datagram, [2]) == nil)
        #expect(try unwrap(machine.endDirectWrite(claim, segment, over: .udp)))
        #expect(machine.messagesWaiting == 2)
        #expect(machine.findPendingWork().contains(.datagrams))
        #expect(machine.writeAllDatagrams() == [[OutboundMessage(4, [1])], [OutboundMessage(4, [2])]])
    }

    @Test
    func aClaimOfTheDatagramsEndsWithItsConnection() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.datagram, [1])
        let old = try unwrap(machine.claim(.udp))
        let segment = try unwrap(machine.takeDirectly(old, over: .udp))
        machine.close(Fixture.reason, willReconnect: true)
        machine.discardQueues(unwritten: 0)
        #expect(machine.counts.messagesLost == 1)
        machine.setDatagramState(.open(udpIdentifier: 7))
        machine.open("next", hasHello: true)
        try machine.send(Fixture.datagram, [2])
        let claim = try unwrap(machine.claim(.udp))
        #expect(try !unwrap(machine.endDirectWrite(old, segment, over: .udp)))
        let none = machine.takeDirectly(old, over: .udp)
        #expect(none == nil)
        #expect(machine.datagrams.flush == .direct)
        var next = try unwrap(machine.takeDirectly(claim, over: .udp))
        #expect(OutboundMessage.all(inDatagram: next.buffer) == [OutboundMessage(4, [2])])
        next.write { first, _ in first.count }
        #expect(try !unwrap(machine.endDirectWrite(claim, next, over: .udp)))
    }

    @Test
    func whoeverWaitsWhileAThreadSendsADatagramIsWokenByTheLoop() throws {
        var machine = Fixture.opened()
        try machine.send(Fixture.datagram, [1])
        let claim = try unwrap(machine.claim(.udp))
        var segment = try unwrap(machine.takeDirectly(claim, over: .udp))
        segment.write { first, _ in first.count }
        machine.waiters[1] = RoomWaiter(outcome: Outcome(), need: .nothingUnsent)
        #expect(try unwrap(machine.endDirectWrite(claim, segment, over: .udp)))
        #expect(machine.datagrams.flush == .scheduled)
    }

    @Test
    func answersHaveToHaveRoom() {
        var machine = Fixture.opened(limit: 100)
        let bytes = [UInt8](repeating: 0, count: 40)
        func answer(_ transport: Transport) -> Bool {
            bytes.withUnsafeBytes { machine.appendAnswer(.pong, over: transport, $0) }
        }
        #expect(answer(.tcp))
        #expect(answer(.tcp))
        #expect(!answer(.tcp))
        #expect(answer(.udp))
        machine.setDatagramState(.unavailable("switched off"))
        #expect(!answer(.udp))
    }
}
