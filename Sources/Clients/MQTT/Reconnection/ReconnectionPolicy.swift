import NIOCore
@_exported public import ReconnectionDelays
import Support

/// Decides when to reconnect to a broker, and when to give up.
///
/// One policy may serve several clients at the same time: each call passes all that it decides on.
public protocol ReconnectionPolicy: RetryPolicy {
    /// Returns how long to wait before an attempt, or `nil` to give up, which ends ``MQTTClient/run()`` with the last
    /// error.
    ///
    /// Called once before each attempt, on the client's event loop. It must not block. A delay below zero counts as
    /// zero.
    func delay(before attempt: ReconnectionAttempt) -> Duration?
}

/// The next attempt to reconnect.
public struct ReconnectionAttempt: Sendable {
    /// The number of the attempt since the loss, from 1. A connection that is lost within 10 s counts as a failed
    /// attempt: the count continues after it.
    public let number: Int
    /// The time since the loss.
    public let elapsed: Duration
    /// Why the connection was lost, or why the first one could not be made.
    public let reason: MQTTError
    /// Why the attempt before this one failed; `nil` for the first.
    public let lastError: MQTTError?
}

extension ReconnectionPolicy where Self: NumberedDelays {
    /// Returns the delay for the number of the attempt.
    public func delay(before attempt: ReconnectionAttempt) -> Duration? { delay(before: attempt.number) }
}

extension ListedDelays: ReconnectionPolicy {}
extension ExponentialDelays: ReconnectionPolicy {}
extension EndlessDelays: ReconnectionPolicy {}

/// Counts the attempts to connect, and asks the policy how long to wait before each.
///
/// A short-lived connection counts as a failed attempt.
struct Retries {
    private let policy: (any ReconnectionPolicy)?
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

    /// Returns the next attempt after an error; `nil` to give up.
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
