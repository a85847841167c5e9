import Testing

@testable import ElementalSecurity

struct PairingWindowTests {
    private let start = ContinuousClock.now

    private func opened(_ kind: PairingSecret.Kind = .code, for duration: Duration = .seconds(300)) -> PairingWindow {
        var window = PairingWindow()
        _ = window.open(kind, for: duration, role: .control, at: start)
        return window
    }

    @Test
    func itIsClosedAtFirst() {
        var window = PairingWindow()
        #expect(!window.isOpen && window.nextChange == nil && window.state == nil)
        #expect(throws: AdmissionRefusal.pairingClosed) { try window.begin(at: start) }
        window.update(at: start)
        window.close()
        #expect(!window.isOpen)
    }

    @Test
    func itClosesAtItsDeadline() {
        var window = opened()
        #expect(window.nextChange == start + .seconds(300))
        window.update(at: start + .milliseconds(299_999))
        #expect(window.isOpen)
        window.update(at: start + .seconds(300))
        #expect(!window.isOpen && window.nextChange == nil)
        // Without a timer nobody begins either.
        window = opened()
        #expect(throws: AdmissionRefusal.pairingClosed) { try window.begin(at: start + .seconds(300)) }
    }

    @Test(arguments: [(Duration.zero, 1), (.seconds(-5), 1), (.seconds(60), 60), (.seconds(1_000_000), 3600)])
    func itsTimeIsBounded(_ wanted: Duration, _ seconds: Int) {
        #expect(opened(for: wanted).state?.deadline == start + .seconds(seconds))
    }

    @Test
    func anAttemptThatTakesTooLongIsOver() throws {
        var window = opened()
        let attempt = try window.begin(at: start)
        #expect(attempt.deadline == start + .seconds(2) && window.nextChange == attempt.deadline)
        #expect(throws: AdmissionRefusal.pairingBusy) { try window.begin(at: start + .milliseconds(1999)) }
        let next = try window.begin(at: start + .seconds(2))
        // The late one neither succeeds nor ends the other one's.
        let lateSucceeds = window.succeed(attempt, at: start + .seconds(2))
        #expect(!lateSucceeds)
        window.end(attempt)
        window.withdraw(attempt)
        #expect(throws: AdmissionRefusal.pairingBusy) { try window.begin(at: start + .seconds(2)) }
        let nextSucceeds = window.succeed(next, at: start + .seconds(3))
        #expect(nextSucceeds && !window.isOpen)
        let succeedsAgain = window.succeed(next, at: start + .seconds(3))
        #expect(!succeedsAgain)
    }

    /// Five in all, of those that were answered.
    @Test
    func itCountsAnswers() throws {
        var window = opened()
        for number in 1...5 {
            window.withdraw(try window.begin(at: start))
            let attempt = try window.begin(at: start)
            #expect(window.isOpen)
            window.end(attempt)
            window.end(attempt)
            #expect(window.isOpen == (number < 5))
        }
    }

    @Test
    func theLastAttemptThatRunsOutClosesIt() throws {
        var window = opened()
        for _ in 1...4 { window.end(try window.begin(at: start)) }
        _ = try window.begin(at: start)
        window.update(at: start + .seconds(2))
        #expect(!window.isOpen)
    }

    /// A new window has a new code, five attempts, and nothing to do with attempts at the old one.
    @Test
    func aNewWindowReplacesTheOldOne() throws {
        var window = opened()
        for _ in 1...4 { window.end(try window.begin(at: start)) }
        let old = try window.begin(at: start)
        let secret = window.open(.code, for: .seconds(10), role: .observe, at: start)
        let oldSucceeds = window.succeed(old, at: start)
        #expect(!oldSucceeds)
        window.end(old)
        window.withdraw(old)
        for _ in 1...5 {
            let attempt = try window.begin(at: start)
            #expect(attempt.secret == secret && attempt.role == .observe)
            window.end(attempt)
        }
        #expect(!window.isOpen)
    }

    /// Not even for a long secret, whose attempts are not counted.
    @Test
    func attemptsBelongToTheirWindow() throws {
        var window = opened(.secret)
        let old = try window.begin(at: start)
        _ = window.open(.secret, for: .seconds(10), role: .admin, at: start)
        let oldSucceeds = window.succeed(old, at: start)
        #expect(!oldSucceeds && window.isOpen)
        // Nor does one that has ended come back.
        window = opened()
        let ended = try window.begin(at: start)
        window.end(ended)
        let endedSucceeds = window.succeed(ended, at: start)
        #expect(!endedSucceeds && window.isOpen)
    }

    @Test
    func aLongSecretHasNeitherPlaceNorCount() throws {
        var window = opened(.secret)
        let attempts = try (0..<20).map { _ in try window.begin(at: start) }
        for attempt in attempts.dropLast() { window.end(attempt) }
        #expect(window.isOpen)
        let slowSucceeds = window.succeed(attempts[18], at: start + .seconds(2))
        #expect(!slowSucceeds)
        let lastSucceeds = window.succeed(attempts[19], at: start + .seconds(1))
        #expect(lastSucceeds && !window.isOpen)
    }
}
