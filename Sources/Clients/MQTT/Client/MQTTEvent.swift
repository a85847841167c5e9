import Support

/// An event of a client's connection.
public enum MQTTEvent: Sendable {
    /// The broker has accepted the connection, the first one or a later one. Subscriptions are restored after the handlers
    /// of this event have returned.
    case connected
    /// The connection was lost, or could not be made.
    ///
    /// - attempt: the number of the attempt that follows, from 1.
    /// - delay: the time until then.
    /// - error: why the attempt is needed.
    case willReconnect(attempt: Int, delay: Duration, error: MQTTError)
    /// The broker refuses these subscriptions, which it granted before the connection was lost.
    case subscriptionsRefused([String])
    /// The client was stopped, or gave up because of an error. No event follows.
    case ended(MQTTError?)
}

extension MQTTEvent: CustomStringConvertible {
    /// A line for a log: `not connected: nothing listens there; attempt 2 follows in 2.0 seconds`. The broker's text is
    /// escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .connected: "connected"
        case .willReconnect(let attempt, let delay, let error):
            "not connected: \(error); attempt \(attempt) follows in \(delay)"
        case .subscriptionsRefused(let filters): "subscriptions refused: \(filters.joined(separator: ", "))"
        case .ended(let error): "ended" + (error.map { ": \($0)" } ?? "")
        }
    }
}
