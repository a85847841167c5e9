import NIOCore
import Support

/// Counts the attempts to connect, and asks the policy how long to wait before each.
///
/// A connection that is lost soon counts as an attempt that failed. Two clients with the same identifier would otherwise
/// take the session from each other without end, each time in the policy's first delay, which is none for most.
struct Retries {
    /// A connection that is lost sooner is short-lived.
    private static let shortLife = TimeAmount.seconds(10)
    /// After this many short-lived connections in a row there is a wait whatever the policy says.
    private static let forgivenLosses = 3

    private let policy: (any ReconnectionPolicy)?
    /// Attempts since the loss.
    private var count = 0
    private var since: NIODeadline?
    private var reason: MQTTError?
    private var connectedAt: NIODeadline?
    private var shortLived = 0
    private var isAfterLoss = false

    init(policy: (any ReconnectionPolicy)?) { self.policy = policy }

    mutating func connected(at now: NIODeadline) { connectedAt = now }

    mutating func lost(at now: NIODeadline) {
        isAfterLoss = true
        if let connectedAt, now - connectedAt < Self.shortLife {
            shortLived += 1
        } else {
            shortLived = 0
            count = 0
        }
        connectedAt = nil
    }

    /// The next attempt after an error; `nil` to give up.
    mutating func next(after error: MQTTError, now: NIODeadline) -> (number: Int, delay: Duration)? {
        guard let policy else { return nil }
        if count == 0 {
            since = now
            reason = error
        }
        count += 1
        let elapsed = Duration.nanoseconds((now - (since ?? now)).nanoseconds)
        let attempt = ReconnectionAttempt(
            number: count, elapsed: elapsed, reason: reason ?? error, lastError: count == 1 ? nil : error)
        guard let delay = policy.delay(before: attempt) else { return nil }
        defer { isAfterLoss = false }
        return (count, max(delay, isAfterLoss ? minimum : .zero))
    }

    private var minimum: Duration {
        let losses = shortLived - Self.forgivenLosses
        return losses > 0 ? BackOff(first: .seconds(1)).delay(before: losses) : .zero
    }
}
