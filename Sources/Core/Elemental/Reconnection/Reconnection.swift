/// The way back to a lost connection: takes what happens and answers what to do. No sockets, no timers.
struct Reconnection {
    /// What to do next.
    enum Action {
        /// Make the attempt after the delay. It takes the place of a wait that is under way.
        case wait(ReconnectionAttempt, delay: Duration)
        /// Begin the attempt now; one that is under way is let go.
        case attempt
        /// The policy has no delay any more.
        case giveUp
    }

    /// A connection that was there again and is lost within this time was no success: the attempts are counted on, so that
    /// a service that takes connections and drops them at once is not called without end.
    static let steadyTime = Duration.seconds(5)

    /// Why the connection was lost in the first place.
    let reason: DisconnectReason
    private let policy: any ReconnectionPolicy
    private let lossTime: ContinuousClock.Instant
    private var next: ReconnectionAttempt?
    private var number = 0
    private var isUnderWay = false
    private var isServiceBack = false
    private var returnTime: ContinuousClock.Instant?

    init(_ policy: any ReconnectionPolicy, after reason: DisconnectReason, at now: ContinuousClock.Instant) {
        self.policy = policy
        self.reason = reason
        lossTime = now
    }

    /// Whether a connection that is lost now was there for long enough to count.
    func isSettled(at now: ContinuousClock.Instant) -> Bool {
        returnTime.map { now - $0 >= Self.steadyTime } ?? false
    }

    /// Asks the policy for the next attempt.
    ///
    /// - Parameter error: why the attempt before failed; `nil` for the first.
    mutating func proceed(after error: ElementalError?, at now: ContinuousClock.Instant) -> Action {
        isUnderWay = false
        number += 1
        let attempt = ReconnectionAttempt(number: number, elapsed: now - lossTime, reason: reason, lastError: error)
        guard let delay = policy.delay(before: attempt) else { return .giveUp }
        next = attempt
        defer { isServiceBack = false }
        return .wait(attempt, delay: isServiceBack ? .zero : max(delay, .zero))
    }

    /// The delay is over.
    mutating func begin() -> Action {
        isUnderWay = true
        return .attempt
    }

    /// The service was seen to return, or someone asks for haste.
    ///
    /// - Parameter hasMoved: whether it is at another address or port than an attempt under way goes to.
    mutating func hurry(hasMoved: Bool) -> Action? {
        if isUnderWay {
            // An attempt under way may have begun too early. If it fails, the next one does not wait.
            isServiceBack = !hasMoved
            return hasMoved ? .attempt : nil
        }
        return next.map { .wait($0, delay: .zero) }
    }

    /// The connection is there again.
    mutating func succeed(at now: ContinuousClock.Instant) {
        isUnderWay = false
        isServiceBack = false
        returnTime = now
    }
}
