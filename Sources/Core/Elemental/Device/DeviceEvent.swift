/// What happens to a device's connection.
public enum DeviceEvent: Sendable {
    /// The connection was lost, or an attempt failed, and the next attempt comes after the delay. It comes again for the
    /// same attempt, with a delay of zero, when the service reappears before the delay is over, and once more with the
    /// rest of the delay if that early attempt fails.
    case willReconnect(ReconnectionAttempt, delay: Duration)
    /// The connection is there again. The values that the service has set follow.
    case didReconnect
    /// It is over: nobody asked for reconnection, the policy gave up, the reason allows none, or this program closed the
    /// device. The event's streams end after it.
    case disconnected(DisconnectReason)
}
