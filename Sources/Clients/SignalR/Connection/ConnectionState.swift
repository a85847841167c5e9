import Support

/// The state of a connection.
public enum ConnectionState: Sendable, Hashable {
    /// Not started, stopped, or lost and not reconnected.
    case disconnected
    /// Being opened by ``HubConnection/start()``.
    case connecting
    /// Open.
    case connected
    /// Lost and reconnecting.
    case reconnecting
    /// Being closed by ``HubConnection/stop()``.
    case disconnecting
}

/// A change of a connection's state.
public enum ConnectionEvent: Sendable {
    /// The connection is open.
    case opened
    /// ``HubConnection/start()`` failed.
    case failedToOpen(SignalRError)
    /// The connection was lost, for this reason if there is one, and will be reconnected.
    case willReconnect(SignalRError?)
    /// The connection was reconnected. To the server it is a new connection, with a new id and no state of the one
    /// before.
    case didReconnect
    /// The connection is closed: `nil` if it was stopped or the server closed it in an orderly way, otherwise the
    /// reason.
    case closed(SignalRError?)
}

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
