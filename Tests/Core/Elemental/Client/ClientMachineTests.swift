import Foundation
import TestSupport
import Testing

@testable import Elemental

/// A client's device through its life, without sockets.
struct ClientMachineTests {
    typealias Machine = ClientMachine<String>

    /// A machine, and what it wanted done, in words.
    struct Client {
        private(set) var machine: Machine
        private(set) var last: Machine.ConnectionID?
        private var now = ContinuousClock.now

        init(_ policy: (any ReconnectionPolicy)? = nil) { machine = Machine(policy) }

        mutating func wait(_ duration: Duration) { now += duration }

        mutating func machineActions(_ input: Machine.Input) -> [Machine.Action] { machine.handle(input, at: now) }

        mutating func handle(_ input: Machine.Input) -> [String] {
            machineActions(input).map { action in
                switch action {
                case .open(let id):
                    last = id
                    return "open"
                case .close(_, let reason): return "close: \(reason)"
                case .abandon(let id): return id == last ? "abandon" : "abandon the one before"
                case .startTimer(let delay): return "timer \(delay)"
                case .cancelTimer: return "no timer"
                case .startWatch: return "watch"
                case .stopWatch: return "no watch"
                case .configure: return "configure"
                case .reopen: return "reopen"
                case .emit(.willReconnect(let attempt, let delay)):
                    return "will \(attempt.number) in \(delay), \(attempt.lastError?.code.description ?? "no error")"
                case .emit(.didReconnect): return "did"
                case .emit(.disconnected): return "told by the device itself"
                case .answer(let waiters, let error):
                    return "\(waiters.joined(separator: ", ")): \(error?.code.description ?? "connected")"
                case .end(let reason): return "end: \(reason)"
                case .release: return "release"
                }
            }
        }

        /// The connection that was asked for last.
        var id: Machine.ConnectionID {
            get throws { try #require(last) }
        }

        mutating func end(_ reason: DisconnectReason) throws -> [String] {
            let id = try id
            let closing = handle(.closing(id, reason))
            #expect(closing.isEmpty)
            return handle(.ended(id, reason, peer: "Rover"))
        }

        static func connected(_ policy: (any ReconnectionPolicy)? = nil) throws -> Client {
            var client = Client(policy)
            #expect(client.handle(.connect("program")) == ["open"])
            #expect(try client.handle(.ready(client.id)) == ["configure", "program: connected"])
            return client
        }

        /// The first connection was lost, and the first attempt waits for its time.
        static func away(_ policy: any ReconnectionPolicy) throws -> Client {
            var client = try connected(policy)
            _ = try client.end(.closedByPeer)
            #expect(client.machine.isAway)
            return client
        }
    }

    /// The documentation's table of what ends how (Survival.md, "Reconnection"), a case or more for each row.
    struct Ending: Sendable, CustomTestStringConvertible {
        let row: String
        let kind: DisconnectReason.Kind
        let reconnects: Bool

        var testDescription: String { "\(row): \(kind)" }

        private static let rows: [(row: String, kinds: [DisconnectReason.Kind], reconnects: Bool)] = [
            ("the peer closed it, or its process was killed", [.closedByPeer, .networkError("reset")], true),
            (
                "the service shut down or disconnected this client, with whatever text",
                [.shutDown("off"), .shutDown("")], true
            ),
            (
                "the network failed, or nothing came or was taken in time",
                [.networkError("gone"), .timedOut("a ping")], true
            ),
            (
                "a limit on all connections together was reached, here or at the service",
                [.limitReached("memory"), .shutDown("too much memory")], true
            ),
            ("this program closed it, or the connecting task was cancelled", [.closedHere, .cancelled], false),
            ("the peer violated the protocol", [.protocolViolation("-9")], false),
            ("both define an element differently, also on reconnecting", [.catalogueMismatch("1")], false),
            (
                "the service's catalogue cannot be decoded and this program has no elements of its own, also on "
                    + "reconnecting", [.invalidCatalogue("it")], false
            ),
        ]

        static let all = rows.flatMap { row, kinds, reconnects in
            kinds.map { Ending(row: row, kind: $0, reconnects: reconnects) }
        }

        /// The rows as the documentation has them.
        static var table: [String] { rows.map { "| \($0.row) | \($0.reconnects ? "reconnects" : "ends") |" } }
    }

    @Test
    func theDocumentationHasTheseRowsAndNoOthers() throws {
        let page = Repository.root.appending(
            path: "Sources/Core/Elemental/Elemental.docc/Survival.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        let table = lines.drop { !$0.hasPrefix("| why the connection ended |") }.dropFirst(2).prefix {
            $0.hasPrefix("|")
        }
        #expect(table.map(String.init) == Ending.table)
    }

    @Test(arguments: Ending.all)
    func whatEndsHow(_ ending: Ending) throws {
        let reason = DisconnectReason(ending.kind, isExpected: false)
        var client = try Client.connected(ListedDelays([.seconds(2)]))
        let id = try client.id
        #expect(client.handle(.closing(id, reason)).isEmpty)
        #expect(client.machine.willReconnect(after: id) == ending.reconnects)
        let expected =
            ending.reconnects
            ? ["watch", "will 1 in 2.0 seconds, no error", "timer 2.0 seconds"]
            : ["no timer", "no watch", "end: \(reason)", "release"]
        #expect(client.handle(.ended(id, reason, peer: "Rover")) == expected)
        #expect(client.machine.isAway == ending.reconnects)
    }

    @Test(arguments: Ending.all)
    func withoutAPolicyEveryLossIsTheEnd(_ ending: Ending) throws {
        let reason = DisconnectReason(ending.kind, isExpected: false)
        var client = try Client.connected()
        #expect(try client.end(reason) == ["no timer", "no watch", "end: \(reason)", "release"])
        #expect(client.machine.state == .idle)
    }

    /// A connection that is replaced by a better one is no loss: one attempt is made without a policy.
    @Test
    func aRenewalNeedsNoPolicy() throws {
        let reason = DisconnectReason(.pairingChanged, isExpected: true)
        for succeeds in [true, false] {
            var client = try Client.connected()
            let id = try client.id
            #expect(client.handle(.renew(reason)) == ["close: \(reason)"])
            #expect(client.machine.willReconnect(after: id))
            #expect(client.handle(.renew(reason)).isEmpty)
            #expect(
                client.handle(.ended(id, reason, peer: "Rover"))
                    == ["watch", "will 1 in 0.0 seconds, no error", "timer 0.0 seconds"])
            #expect(client.handle(.timer) == ["no timer", "open"])
            if succeeds {
                #expect(try client.handle(.ready(client.id)) == ["no timer", "no watch", "reopen", "did"])
            } else {
                let error = ElementalError(.notPaired, "it is not paired")
                #expect(
                    try client.handle(.failed(client.id, error))
                        == ["no timer", "no watch", "end: network error: it is not paired", "release"])
            }
        }
    }

    @Test(arguments: Ending.all)
    func aReturnThatEndsInItsHandshake(_ ending: Ending) throws {
        let reason = DisconnectReason(ending.kind, isExpected: false)
        var client = try Client.away(ListedDelays([.zero, .seconds(2)]))
        #expect(client.handle(.timer) == ["no timer", "open"])
        let actions = try client.handle(.ended(client.id, reason, peer: "Rover"))
        if ending.reconnects {
            #expect(actions.count == 2)
            #expect(actions.first?.hasPrefix("will 2 in 2.0 seconds") == true)
        } else {
            #expect(actions == ["no timer", "no watch", "end: \(reason)", "release"])
        }
    }

    @Test
    func aFirstConnectionThatDoesNotComeAboutIsNotTriedAgain() throws {
        var client = Client(ListedDelays.standard)
        #expect(client.handle(.connect("program")) == ["open"])
        let error = ElementalError(.connectionFailed, "nothing listens there")
        #expect(
            try client.handle(.failed(client.id, error))
                == ["no timer", "no watch", "program: connectionFailed", "release"])
        #expect(client.machine.state == .idle)
    }

    @Test
    func aFirstConnectionThatIsRefusedSaysSo() throws {
        var client = Client(ListedDelays.standard)
        _ = client.handle(.connect("program"))
        #expect(
            try client.handle(.ended(client.id, .shutDown, peer: "Rover"))
                == ["no timer", "no watch", "program: unauthenticated", "release"])
    }

    @Test
    func aCancelledFirstConnectionIsLetGo() throws {
        var client = Client()
        _ = client.handle(.connect("one"))
        #expect(client.handle(.connect("two")).isEmpty)
        #expect(client.handle(.cancel("one", closes: false)) == ["one: cancelled"])
        #expect(
            client.handle(.cancel("two", closes: false))
                == ["two: cancelled", "no timer", "no watch", "abandon", "release"])
        #expect(client.machine.state == .idle)
        // What becomes of it is of no interest any more.
        #expect(try client.handle(.ready(client.id)).isEmpty)
        #expect(try client.handle(.ended(client.id, .closedByPeer, peer: "Rover")).isEmpty)
        #expect(client.machine.state == .idle)
    }

    @Test
    func aCancelledWaitThatIsAnsweredClosesOnlyWhereItMay() throws {
        var client = try Client.connected()
        #expect(client.handle(.cancel("program", closes: false)).isEmpty)
        #expect(client.handle(.cancel("program", closes: true)) == ["close: cancelled"])
        #expect(try client.machine.willReconnect(after: client.id) == false)
    }

    @Test
    func aClosedDeviceEndsOnceItsConnectionHas() throws {
        var client = try Client.connected(ListedDelays.standard)
        #expect(client.handle(.disconnect(.closedHere)) == ["close: closed here"])
        // Somebody wants a connection while the old one is still there: the end answers.
        #expect(client.handle(.connect("late")).isEmpty)
        #expect(
            try client.handle(.ended(client.id, .closedHere, peer: "Rover"))
                == ["no timer", "no watch", "late: notConnected", "end: closed here", "release"])
    }

    /// The program closes a connection that is ending already because the service shuts down: it does not come back.
    @Test
    func closingAConnectionThatIsBeingLostIsTheEnd() throws {
        var client = try Client.connected(ListedDelays.standard)
        let id = try client.id
        _ = client.handle(.closing(id, .shutDown))
        #expect(client.machine.willReconnect(after: id))
        _ = client.handle(.disconnect(.closedHere))
        #expect(!client.machine.willReconnect(after: id))
        #expect(
            client.handle(.ended(id, .shutDown, peer: "Rover"))
                == ["no timer", "no watch", "end: shut down: off", "release"])
    }

    @Test
    func aReturnGoesOnWithTheSameDevice() throws {
        var client = try Client.away(ListedDelays([.zero]))
        #expect(client.handle(.connect("program")) == ["will 1 in 0.0 seconds, no error", "timer 0.0 seconds"])
        #expect(client.handle(.timer) == ["no timer", "open"])
        #expect(
            try client.handle(.ready(client.id)) == ["no timer", "no watch", "reopen", "did", "program: connected"])
        #expect(client.handle(.connect("again")) == ["again: connected"])
    }

    @Test
    func thePolicyGivesUpWithTheReasonOfTheLoss() throws {
        var client = try Client.connected(ListedDelays([.zero, .seconds(2)]))
        _ = try client.end(.shutDown)
        for number in 2...3 {
            #expect(client.handle(.timer) == ["no timer", "open"])
            let actions = try client.handle(.failed(client.id, ElementalError(.timedOut, "no answer")))
            #expect(
                actions
                    == (number == 2
                        ? ["will 2 in 2.0 seconds, timedOut", "timer 2.0 seconds"]
                        : ["no timer", "no watch", "end: shut down: off", "release"]))
        }
    }

    /// A connection that is lost again within 5 s was no success; after that it was.
    @Test(arguments: [(Duration.seconds(4), 2), (.seconds(5), 1)])
    func aBriefReturnCountsAsAnAttempt(_ time: Duration, _ number: Int) throws {
        var client = try Client.away(ListedDelays([.zero, .seconds(2)]))
        _ = client.handle(.timer)
        _ = try client.handle(.ready(client.id))
        client.wait(time)
        let actions = try client.end(.closedByPeer)
        #expect(actions.first == "watch")
        #expect(actions.dropFirst().first?.hasPrefix("will \(number) in") == true)
    }

    @Test
    func aServiceSeenToReturnIsConnectedToAtOnce() throws {
        var client = try Client.away(ListedDelays([.seconds(9), .seconds(9)]))
        #expect(
            client.handle(.sighted(hasMoved: false)) == ["will 1 in 0.0 seconds, no error", "timer 0.0 seconds"])
        _ = client.handle(.timer)
        // At the same place the attempt goes on; at another one it is made anew.
        #expect(client.handle(.sighted(hasMoved: false)).isEmpty)
        let first = try client.id
        #expect(client.handle(.sighted(hasMoved: true)) == ["no timer", "abandon", "open"])
        #expect(try client.id != first)
        #expect(client.handle(.failed(first, ElementalError(.timedOut, "no answer"))).isEmpty)
    }

    // MARK: Early attempts

    /// An attempt that is begun at once and fails after a second: what the client wants then.
    private func failedAttempt(_ client: inout Client) throws -> [String] {
        #expect(client.handle(.timer) == ["no timer", "open"])
        client.wait(.seconds(1))
        return try client.handle(.failed(client.id, ElementalError(.connectionFailed, "nothing listens there")))
    }

    private static let givenUp = ["no timer", "no watch", "end: \(DisconnectReason.closedByPeer)", "release"]

    private func planned(_ number: Int, in seconds: Int) -> [String] {
        ["will \(number) in \(seconds).0 seconds, connectionFailed", "timer \(seconds).0 seconds"]
    }

    @Test
    func anAttemptKnowsHowLongTheLossWasAgo() throws {
        var client = try Client.away(ListedDelays([.zero, .seconds(2)]))
        client.wait(.seconds(1))
        _ = client.handle(.timer)
        let actions = try client.machineActions(.failed(client.id, ElementalError(.connectionFailed, "no")))
        guard case .emit(.willReconnect(let attempt, let delay)) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(attempt.elapsed == .seconds(1) && attempt.number == 2 && delay == .seconds(2))
    }

    @Test
    func anEarlyAttemptDoesNotUseUpThePolicy() throws {
        var client = try Client.away(ListedDelays([.seconds(9)]))
        // Stale records, sighted twice: the attempts fail.
        for left in [6, 3] {
            client.wait(.seconds(2))
            #expect(client.handle(.sighted(hasMoved: false)).last == "timer 0.0 seconds")
            #expect(try failedAttempt(&client) == planned(1, in: left))
        }
        // The policy's own attempt.
        client.wait(.seconds(3))
        #expect(try failedAttempt(&client) == Self.givenUp)
    }

    @Test
    func sightingsDoNotKeepADeviceTryingForEver() throws {
        var client = try Client.away(ListedDelays([.seconds(9)]))
        for _ in 0..<8 {
            _ = client.handle(.sighted(hasMoved: false))
            #expect(try failedAttempt(&client).first?.hasPrefix("will 1 in") == true)
        }
        _ = client.handle(.sighted(hasMoved: false))
        #expect(try failedAttempt(&client) == Self.givenUp)
    }

    @Test
    func anAttemptDuringWhichTheServiceReturnsIsRepeatedAtOnce() throws {
        var client = try Client.away(ListedDelays([.zero, .seconds(9), .seconds(9)]))
        _ = client.handle(.timer)
        #expect(client.handle(.sighted(hasMoved: false)).isEmpty)
        let error = ElementalError(.connectionFailed, "nothing listens there")
        #expect(try client.handle(.failed(client.id, error)) == planned(1, in: 0))
        // Only once.
        #expect(try failedAttempt(&client) == planned(2, in: 9))
    }

    @Test
    func aReturnDuringTheLastAttemptIsNotMissed() throws {
        var client = try Client.away(ListedDelays([.zero]))
        _ = client.handle(.timer)
        _ = client.handle(.sighted(hasMoved: false))
        let error = ElementalError(.connectionFailed, "nothing listens there")
        #expect(try client.handle(.failed(client.id, error)) == planned(1, in: 0))
        #expect(try failedAttempt(&client) == Self.givenUp)
    }

    @Test
    func anAttemptAtTheOldPlaceIsBegunAnewAtTheNewOne() throws {
        var client = try Client.away(ListedDelays([.zero, .seconds(9)]))
        _ = client.handle(.timer)
        #expect(client.handle(.sighted(hasMoved: true)) == ["no timer", "abandon", "open"])
        let error = ElementalError(.connectionFailed, "nothing listens there")
        #expect(try client.handle(.failed(client.id, error)) == planned(2, in: 9))
    }

    @Test
    func aDeviceThatIsAwayEndsAtOnceWhenItIsClosed() throws {
        var waiting = try Client.away(ListedDelays([.seconds(9)]))
        #expect(
            waiting.handle(.disconnect(.closedHere)) == ["no timer", "no watch", "end: closed here", "release"])
        var trying = try Client.away(ListedDelays([.zero]))
        _ = trying.handle(.timer)
        #expect(
            trying.handle(.disconnect(.closedHere))
                == ["no timer", "no watch", "abandon", "end: closed here", "release"])
        // Nothing is to come; the timer or a late sighting change nothing.
        #expect(trying.handle(.timer).isEmpty)
        #expect(trying.handle(.sighted(hasMoved: true)).isEmpty)
    }

    @Test
    func aDeviceThatHasEndedCanBeConnectedAgain() throws {
        var client = try Client.connected()
        _ = try client.end(.closedByPeer)
        #expect(client.handle(.connect("again")) == ["open"])
        #expect(
            try client.handle(.failed(client.id, ElementalError(.connectionFailed, "nothing listens there")))
                == ["no timer", "no watch", "again: connectionFailed", "release"])
        #expect(client.handle(.connect("once more")) == ["open"])
        #expect(
            try client.handle(.ready(client.id))
                == ["no timer", "no watch", "reopen", "did", "once more: connected"])
    }
}

extension DisconnectReason {
    static let closedByPeer = DisconnectReason(.closedByPeer, isExpected: false)
    static let closedHere = DisconnectReason(.closedHere, isExpected: true)
    static let shutDown = DisconnectReason(.shutDown("off"), isExpected: true)
}
