@_exported public import ReconnectionDelays

/// Decides when a device that lost its connection tries again, and when it gives up.
///
/// ```swift
/// var options = ConnectOptions()
/// options.reconnection = .standard
/// ```
/// One policy may serve any number of devices at the same time: its decisions depend only on what is passed in.
public protocol ReconnectionPolicy: RetryPolicy {
    /// How long to wait before an attempt, or `nil` to give up, which ends the device with the reason of the loss.
    ///
    /// It is called once before each attempt, on the device's event loop, and must not block. A negative delay counts
    /// as zero.
    func delay(before attempt: ReconnectionAttempt) -> Duration?
}

extension ReconnectionPolicy where Self: NumberedDelays {
    public func delay(before attempt: ReconnectionAttempt) -> Duration? { delay(before: attempt.number) }
}

extension ListedDelays: ReconnectionPolicy {}
extension ExponentialDelays: ReconnectionPolicy {}
extension EndlessDelays: ReconnectionPolicy {}

/// The attempts to restore a lost connection, as a state machine: takes events and returns actions. No sockets, no
/// timers.
///
/// A sighting of the service, or ``ElementalDevice/reconnect()``, makes the next attempt early. An early attempt does
/// not use up the one that the policy planned: the sighting may be a stale mDNS record, and a policy with one attempt
/// left would otherwise give up although the service is about to return.
struct Reconnection {
    enum Action {
        /// Make the attempt after the delay, which replaces a pending one.
        case wait(ReconnectionAttempt, delay: Duration)
        case attempt
        case giveUp
    }

    /// A connection that is lost again within this time does not reset the count of attempts. Otherwise a service that
    /// drops connections at once would be contacted forever.
    static let steadyTime = Duration.seconds(5)
    /// How many extra attempts sightings can cause per attempt of the policy. Otherwise a flapping listing would keep a
    /// device trying forever.
    static let mostRepetitions = 8

    let reason: DisconnectReason
    private let policy: any ReconnectionPolicy
    private let lossTime: ContinuousClock.Instant
    private var next: ReconnectionAttempt?
    private var dueTime: ContinuousClock.Instant
    private var hasDelay = false
    private var number = 0
    private var repetitions = 0
    private var isUnderWay = false
    /// Whether the next attempt, or the one in progress, is ahead of the policy's time.
    private var isEarly = false
    private var isServiceBack = false
    private var returnTime: ContinuousClock.Instant?

    init(_ policy: any ReconnectionPolicy, after reason: DisconnectReason, at now: ContinuousClock.Instant) {
        self.policy = policy
        self.reason = reason
        lossTime = now
        dueTime = now
    }

    func isSettled(at now: ContinuousClock.Instant) -> Bool {
        returnTime.map { now - $0 >= Self.steadyTime } ?? false
    }

    /// Plans the next attempt: the policy's attempt that an early one preceded, or else a new one.
    ///
    /// - Parameter error: why the previous attempt failed; `nil` for the first.
    mutating func proceed(after error: ElementalError?, at now: ContinuousClock.Instant) -> Action {
        // The service was sighted during the attempt, which may have begun too early: retry at once.
        let isOvertaken = isUnderWay && isServiceBack
        let isRepeated = isUnderWay && (isEarly || isOvertaken) && repetitions < Self.mostRepetitions
        isEarly = isRepeated && isOvertaken && now < dueTime
        isServiceBack = false
        isUnderWay = false
        repetitions = isRepeated ? repetitions + 1 : 0
        if !isRepeated { number += 1 }
        let attempt = ReconnectionAttempt(number: number, elapsed: now - lossTime, reason: reason, lastError: error)
        if !isRepeated {
            guard let delay = policy.delay(before: attempt) else { return .giveUp }
            dueTime = now + max(delay, .zero)
        }
        next = attempt
        let delay = isOvertaken ? .zero : max(dueTime - now, .zero)
        hasDelay = delay > .zero
        return .wait(attempt, delay: delay)
    }

    mutating func begin() -> Action {
        isUnderWay = true
        return .attempt
    }

    /// - Parameter hasMoved: whether an attempt in progress connects to an old address or port.
    mutating func hurry(hasMoved: Bool) -> Action? {
        if isUnderWay {
            isServiceBack = !hasMoved
            return hasMoved ? .attempt : nil
        }
        guard let next else { return nil }
        if hasDelay { isEarly = true }
        return .wait(next, delay: .zero)
    }

    mutating func succeed(at now: ContinuousClock.Instant) {
        isUnderWay = false
        isEarly = false
        isServiceBack = false
        returnTime = now
    }
}
