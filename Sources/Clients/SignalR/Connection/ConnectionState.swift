/// How far a connection is.
public enum ConnectionState: Sendable, Hashable {
    /// Not started, or stopped, or lost for good.
    case disconnected
    /// Being opened by ``HubConnection/start()``.
    case connecting
    /// Open.
    case connected
    /// Lost, and being made again.
    case reconnecting
    /// Being closed by ``HubConnection/stop()``.
    case disconnecting
}

/// What happens to a connection as a whole.
public enum ConnectionEvent: Sendable {
    /// It is open.
    case opened
    /// ``HubConnection/start()`` failed.
    case failedToOpen(SignalRError)
    /// It was lost, for this reason if there is one, and will be made again.
    case willReconnect(SignalRError?)
    /// It was made again. It is a new connection to the server, which knows nothing of the one before.
    case didReconnect
    /// It is closed: `nil` if it was stopped or the server ended it in good order, otherwise the reason.
    case closed(SignalRError?)
}
