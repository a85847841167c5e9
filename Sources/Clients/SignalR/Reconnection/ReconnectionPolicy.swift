@_exported public import ReconnectionDelays

/// Decides when a connection that was lost is tried again, and when to give up.
///
/// One policy may serve any number of connections at the same time: everything that it decides on comes with the question.
public protocol ReconnectionPolicy: RetryPolicy {
    /// How long to wait before an attempt, or `nil` to give up, which closes the connection with the reason of the loss.
    ///
    /// It is asked once before each attempt, on the connection's event loop, and must not block. A delay below zero counts
    /// as zero.
    func delay(before attempt: ReconnectionAttempt) -> Duration?
}

/// An attempt to reconnect that is about to be made.
public struct ReconnectionAttempt: Sendable {
    /// The attempt's number since the loss, beginning with 1.
    public let number: Int
    /// The time since the loss.
    public let elapsed: Duration
    /// Why the connection was lost; `nil` if the server ended it in good order.
    public let reason: SignalRError?
    /// Why the attempt before this one failed; `nil` for the first.
    public let lastError: SignalRError?
}

extension ReconnectionPolicy where Self: NumberedDelays {
    public func delay(before attempt: ReconnectionAttempt) -> Duration? { delay(before: attempt.number) }
}

extension ListedDelays: ReconnectionPolicy {}
extension ExponentialDelays: ReconnectionPolicy {}
extension EndlessDelays: ReconnectionPolicy {}
