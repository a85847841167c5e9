import NIOCore
import Support

/// Counts the attempts to connect, and asks the policy how long to wait before each.
///
/// A connection that is lost soon counts as an attempt that failed.
struct Retries {
    private let policy: (any ReconnectionPolicy)?
    /// Attempts since the loss.
    private var count = 0
    private var since: NIODeadline?
    private var reason: MQTTError?
    private var connectedAt: NIODeadline?
    private var shortLived = ShortLivedConnections()
    private var isAfterLoss = false

    init(policy: (any ReconnectionPolicy)?) { self.policy = policy }

    mutating func connected(at now: NIODeadline) { connectedAt = now }

    mutating func lost(at now: NIODeadline) {
        isAfterLoss = true
        if !shortLived.lost(after: connectedAt.map { .nanoseconds((now - $0).nanoseconds) }) { count = 0 }
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
        return (count, max(delay, isAfterLoss ? shortLived.minimumDelay : .zero))
    }
}
