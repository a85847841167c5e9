import NIOCore
@_exported public import ReconnectionDelays
import Support

/// Decides when a broker that is not connected is tried again, and when to give up.
///
/// One policy may serve any number of clients at the same time: everything that it decides on comes with the question.
public protocol ReconnectionPolicy: RetryPolicy {
    /// How long to wait before an attempt, or `nil` to give up, which ends ``MQTTClient/run()`` with the reason of the
    /// loss.
    ///
    /// It is asked once before each attempt, on the client's event loop, and must not block. A delay below zero counts as
    /// zero.
    func delay(before attempt: ReconnectionAttempt) -> Duration?
}

/// An attempt to connect again that is about to be made.
public struct ReconnectionAttempt: Sendable {
    /// The attempt's number since the loss, beginning with 1. A connection that was lost within 10 s counts as a failed
    /// attempt: the count goes on after it.
    public let number: Int
    /// The time since the loss.
    public let elapsed: Duration
    /// Why the connection was lost, or why the first one could not be made.
    public let reason: MQTTError
    /// Why the attempt before this one failed; `nil` for the first.
    public let lastError: MQTTError?
}

extension ReconnectionPolicy where Self: NumberedDelays {
    public func delay(before attempt: ReconnectionAttempt) -> Duration? { delay(before: attempt.number) }
}

extension ListedDelays: ReconnectionPolicy {}
extension ExponentialDelays: ReconnectionPolicy {}
extension EndlessDelays: ReconnectionPolicy {}

/// Counts the attempts to connect, and asks the policy how long to wait before each.
///
/// A connection that is lost soon counts as an attempt that failed.
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
