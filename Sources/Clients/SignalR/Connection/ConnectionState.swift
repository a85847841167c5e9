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
