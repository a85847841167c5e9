extension ObservedDevice {
    /// The state of a model's connection. More may be added; give a `switch` a default.
    public enum State: Sendable, CustomStringConvertible {
        /// The first connection is being made, or one after the device had ended.
        case connecting
        /// Values pass.
        case connected
        /// The connection was lost, or an attempt to restore it failed: the next one follows after the delay. The attempt
        /// says its number and the reasons.
        case reconnecting(ReconnectionAttempt, delay: Duration)
        /// The connection has ended and is not restored; ``ObservedDevice/connect()`` makes another one.
        case ended(DisconnectReason)
        /// The connection could not be made; ``ObservedDevice/connect()`` tries again.
        case failed(ElementalError)

        /// The state for a person, such as "reconnecting, attempt 3: timed out".
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

        /// Whether values pass now.
        public var isConnected: Bool { if case .connected = self { true } else { false } }
    }
}
