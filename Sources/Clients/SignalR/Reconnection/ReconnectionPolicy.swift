@_exported public import ReconnectionDelays

/// Decides when to reconnect a lost connection, and when to give up.
///
/// One policy may serve several connections at the same time: each call passes all that it decides on.
public protocol ReconnectionPolicy: RetryPolicy {
    /// Returns how long to wait before an attempt, or `nil` to give up, which closes the connection with the reason of
    /// the loss.
    ///
    /// Called once before each attempt, on the connection's event loop. It must not block. A delay below zero counts as
    /// zero.
    func delay(before attempt: ReconnectionAttempt) -> Duration?
}

/// The next attempt to reconnect.
public struct ReconnectionAttempt: Sendable {
    /// The number of the attempt since the loss, from 1.
    public let number: Int
    /// The time since the loss.
    public let elapsed: Duration
    /// Why the connection was lost; `nil` if the server closed it in an orderly way.
    public let reason: SignalRError?
    /// Why the attempt before this one failed; `nil` for the first.
    public let lastError: SignalRError?
}

extension ReconnectionPolicy where Self: NumberedDelays {
    /// Returns the delay for the number of the attempt.
    public func delay(before attempt: ReconnectionAttempt) -> Duration? { delay(before: attempt.number) }
}

extension ListedDelays: ReconnectionPolicy {}
extension ExponentialDelays: ReconnectionPolicy {}
extension EndlessDelays: ReconnectionPolicy {}
