import Support

/// A change in the state of a device's connection.
public enum DeviceEvent: Sendable {
    /// The connection was lost, or an attempt failed, and the next attempt follows after the delay. Sent again for the
    /// same attempt, with a delay of zero, when the service reappears before the delay has elapsed, and once more with
    /// the remaining delay if that early attempt fails.
    case willReconnect(ReconnectionAttempt, delay: Duration)
    /// The connection is restored. The values that the service has set follow.
    case didReconnect
    /// The device has ended: there is no reconnection policy, the policy gave up, the reason rules out reconnection, or
    /// this program closed the device. Event streams finish after this event.
    case disconnected(DisconnectReason)
}

extension DeviceEvent: CustomStringConvertible {
    /// A line for a log: `connection lost: closed by the peer; attempt 1 follows in 2.0 seconds`. Reasons from other
    /// programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .willReconnect(let attempt, let delay):
            "connection lost: \(attempt.lastError.map { "\($0)" } ?? "\(attempt.reason)"); attempt \(attempt.number) follows in \(delay)"
        case .didReconnect: "connected again"
        case .disconnected(let reason): "disconnected: \(reason)"
        }
    }
}

/// An attempt to reconnect that is about to be made.
public struct ReconnectionAttempt: Sendable {
    /// The number of the attempt since the loss, starting with 1.
    public let number: Int
    /// The time since the loss.
    public let elapsed: Duration
    /// Why the connection was lost.
    public let reason: DisconnectReason
    /// Why the previous attempt failed; `nil` for the first.
    public let lastError: ElementalError?
}
