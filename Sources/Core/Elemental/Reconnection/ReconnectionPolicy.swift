/// Decides when a device that lost its connection tries again, and when it gives up.
///
/// ```swift
/// var options = ConnectOptions()
/// options.reconnection = .standard
/// ```
/// One policy may serve any number of devices at the same time: everything that it decides on comes with the question.
public protocol ReconnectionPolicy: Sendable {
    /// How long to wait before an attempt, or `nil` to give up, which ends the device with the reason of the loss.
    ///
    /// It is asked once before each attempt, on the device's event loop, and must not block. A delay below zero counts
    /// as zero.
    func delay(before attempt: ReconnectionAttempt) -> Duration?
}

/// An attempt to reconnect that is about to be made.
public struct ReconnectionAttempt: Sendable {
    /// The attempt's number since the loss, beginning with 1.
    public let number: Int
    /// The time since the loss.
    public let elapsed: Duration
    /// Why the connection was lost.
    public let reason: DisconnectReason
    /// Why the attempt before this one failed; `nil` for the first.
    public let lastError: ElementalError?
}
