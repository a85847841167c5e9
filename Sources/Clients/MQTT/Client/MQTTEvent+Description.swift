import Support

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
