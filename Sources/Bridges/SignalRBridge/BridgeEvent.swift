public import Elemental
public import SignalR

/// An event of a bridge.
public enum BridgeEvent: Sendable {
    /// The direction of a value.
    public enum Direction: Sendable, Hashable {
        case toHub, toDevice
    }

    /// The hub was called with a value of the device.
    case toHub(ElementDefinition, ElementValue)
    /// The device was sent a value of the hub.
    case toDevice(ElementDefinition, ElementValue)
    /// A value could not be forwarded: it is of another type, out of range, too large for the hub, or the device
    /// accepts none now. A value that is too large is reported once; it and values of that size or more are skipped
    /// from then on.
    case failed(ElementDefinition, Direction, any Error)
    /// Values arrived faster than they may be forwarded, and the queue is full: the newest was dropped.
    case dropped(ElementDefinition, Direction)
    /// The connection to the hub is lost, for this reason if there is one, and is reconnecting.
    case hubAway(SignalRError?)
    /// The connection to the hub was reconnected.
    case hubReturned
}
