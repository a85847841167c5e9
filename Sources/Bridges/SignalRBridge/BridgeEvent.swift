public import ElementalFollowing
public import SignalR

/// An event of a bridge.
public enum BridgeEvent: Sendable, CustomStringConvertible {
    /// The outcome of passing a value on. A value that is too large for the hub is reported once; it and values of that
    /// size or more are skipped from then on.
    case value(BridgedValue)
    /// The connection to the hub is lost, for this reason if it is known, and is being restored.
    case hubAway(SignalRError?)
    /// The connection to the hub is restored.
    case hubReturned

    /// A line for a log. Names and reasons from other programs are escaped.
    public var description: String {
        switch self {
        case .value(let value): value.description
        case .hubAway(let error): "the hub is not connected" + (error.map { ": \($0)" } ?? "")
        case .hubReturned: "the hub is connected again"
        }
    }
}
