import Support

extension ConnectionEvent: CustomStringConvertible {
    /// A line for a log: `connection lost: the server closed it`. The hub's text is escaped.
    public var description: String { text.printable }

    private var text: String {
        func because(_ error: SignalRError?) -> String { error.map { ": \($0)" } ?? "" }
        return switch self {
        case .opened: "opened"
        case .failedToOpen(let error): "not opened: \(error)"
        case .willReconnect(let error): "connection lost" + because(error)
        case .didReconnect: "connected again"
        case .closed(let error): "closed" + because(error)
        }
    }
}
