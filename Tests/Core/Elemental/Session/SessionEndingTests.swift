import Testing

@testable import Elemental

/// How a connection ends, without sockets.
struct SessionEndingTests {
    /// An ending, and what it wanted done, in words.
    private struct Machine {
        var ending = SessionEnding()

        mutating func handle(_ event: SessionEnding.Event) -> [String] {
            ending.handle(event).map { action in
                switch action {
                case .stopSending(let reason): "stop sending: \(reason)"
                case .sendShutdown(let text): "send: \(text)"
                case .startTimer: "timer"
                case .read: "read"
                case .flush: "flush"
                case .closeOutput: "close output"
                case .closeChannel: "close"
                case .finish(let reason): "finish: \(reason)"
                }
            }
        }
    }

    private static let networkError = DisconnectReason(.networkError("reset"), isExpected: false)

    @Test
    func whatIsQueuedLeavesBeforeOurSideIsClosedAndTheOtherEndsCloseIsAwaited() {
        var machine = Machine()
        #expect(machine.ending.isOpen)
        #expect(
            machine.handle(.close(.closedHere, shutdownText: "off", waits: true))
                == ["stop sending: closed here", "send: off", "timer", "read", "flush"])
        #expect(!machine.ending.isOpen)
        #expect(machine.handle(.drained) == ["close output"])
        #expect(machine.handle(.drained).isEmpty)
        #expect(machine.handle(.gone(.closedByPeer)) == ["finish: closed here"])
        #expect(machine.handle(.timeUp).isEmpty)
    }

    @Test(arguments: [nil, ""])
    func anEndWithoutATextSaysNothing(_ text: String?) {
        var machine = Machine()
        #expect(
            machine.handle(.close(.closedHere, shutdownText: text, waits: true))
                == ["stop sending: closed here", "timer", "read", "flush"])
    }

    @Test
    func whoIsTurnedAwayAndMayNotStayIsClosedBehindTheReason() {
        var machine = Machine()
        #expect(
            machine.handle(.close(.closedHere, shutdownText: "refused: full", waits: false)).suffix(2)
                == ["flush", "close"])
    }

    @Test
    func theFirstReasonIsTheOneThatIsTold() {
        var machine = Machine()
        _ = machine.handle(.close(.shutDown, shutdownText: nil, waits: true))
        #expect(machine.handle(.close(.closedHere, shutdownText: "late", waits: true)).isEmpty)
        #expect(machine.handle(.fail(Self.networkError, shutdownText: nil)) == ["close"])
        #expect(machine.handle(.gone(.closedByPeer)) == ["finish: shut down: off"])
    }

    @Test
    func anEndThatTakesTooLongIsCutShort() {
        var machine = Machine()
        _ = machine.handle(.close(.closedHere, shutdownText: nil, waits: true))
        #expect(machine.handle(.timeUp) == ["close"])
        #expect(machine.handle(.gone(.closedByPeer)) == ["finish: closed here"])
    }

    @Test
    func afterAnErrorOfTheNetworkNothingIsSent() {
        var machine = Machine()
        #expect(machine.handle(.fail(Self.networkError, shutdownText: "unread")) == ["close"])
        #expect(machine.handle(.drained).isEmpty)
        #expect(machine.handle(.gone(.closedByPeer)) == ["finish: network error: reset"])
    }

    @Test
    func whatBreaksTheRulesIsToldWhy() {
        var machine = Machine()
        let reason = DisconnectReason(.protocolViolation("-9"), isExpected: false)
        #expect(
            machine.handle(.fail(reason, shutdownText: "protocol violation: -9"))
                == ["stop sending: \(reason)", "send: protocol violation: -9", "timer", "read", "flush"])
    }

    /// Every way in which the channel goes by itself.
    @Test
    func aConnectionThatJustGoesEndsOnce() {
        var machine = Machine()
        #expect(machine.handle(.gone(.closedByPeer)) == ["finish: closed by the other end"])
        #expect(machine.handle(.gone(.closedHere)).isEmpty)
        #expect(machine.handle(.close(.closedHere, shutdownText: nil, waits: true)).isEmpty)
        #expect(machine.handle(.breakOff(.closedHere)).isEmpty)
        #expect(machine.handle(.fail(Self.networkError, shutdownText: nil)).isEmpty)
        #expect(machine.handle(.drained).isEmpty)
    }
}
