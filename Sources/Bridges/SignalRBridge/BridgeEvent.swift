public import ElementalFollowing
public import SignalR

/// An event of a bridge.
public enum BridgeEvent: Sendable, CustomStringConvertible {
    /// What became of a value. One that is too large for the hub is reported once; it and values of that size or more are
    /// skipped from then on.
    case value(BridgedValue)
    /// The connection to the hub is lost, for this reason if there is one, and is reconnecting.
    case hubAway(SignalRError?)
    /// The connection to the hub was reconnected.
    case hubReturned

    /// A line for a log. Names and reasons from other programs are escaped.
    public var description: String {
        switch self {
        case .value(let value): value.description
        case .hubAway(let error): "the hub is away" + (error.map { ": \($0)" } ?? "")
        case .hubReturned: "the hub is connected again"
        }
    }
}
