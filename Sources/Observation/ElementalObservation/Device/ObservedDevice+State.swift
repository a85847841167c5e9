extension ObservedDevice {
    /// The state of a model's connection. Cases may be added; give a `switch` a default.
    public enum State: Sendable, CustomStringConvertible {
        /// The first attempt to connect is in progress, or one after the connection had ended.
        case connecting
        /// Values can be sent and received.
        case connected
        /// The connection was lost, or an attempt to restore it failed; the next one follows after the delay. The
        /// attempt contains its number and the reasons.
        case reconnecting(ReconnectionAttempt, delay: Duration)
        /// The connection has ended and is not restored; ``ObservedDevice/connect()`` starts another one.
        case ended(DisconnectReason)
        /// The connection failed; ``ObservedDevice/connect()`` retries.
        case failed(ElementalError)

        /// The state for the user, such as "reconnecting, attempt 3: timed out".
        public var description: String {
            switch self {
            case .connecting: "connecting"
            case .connected: "connected"
            case .reconnecting(let attempt, _):
                "reconnecting, attempt \(attempt.number): \(attempt.lastError?.message ?? attempt.reason.description)"
            case .ended(let reason): reason.description
            case .failed(let error): error.message
            }
        }

        /// Whether values can be sent and received now.
        public var isConnected: Bool { if case .connected = self { true } else { false } }
    }
}
