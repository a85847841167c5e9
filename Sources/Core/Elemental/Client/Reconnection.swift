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
    /// Called once before each attempt, on the device's event loop; it must not block. A negative delay counts as zero.
    func delay(before attempt: ReconnectionAttempt) -> Duration?
}

extension ReconnectionPolicy where Self: NumberedDelays {
    /// Returns the delay for the attempt's number.
    public func delay(before attempt: ReconnectionAttempt) -> Duration? { delay(before: attempt.number) }
}

extension ListedDelays: ReconnectionPolicy {}
extension ExponentialDelays: ReconnectionPolicy {}
extension EndlessDelays: ReconnectionPolicy {}
