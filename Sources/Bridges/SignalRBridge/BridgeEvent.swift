public import Elemental
public import SignalR

/// What a bridge does.
public enum BridgeEvent: Sendable {
    /// Which way a value goes.
    public enum Direction: Sendable, Hashable {
        case toHub, toDevice
    }

    /// The hub was called with a value of the device.
    case toHub(ElementDefinition, ElementValue)
    /// The device was sent a value of the hub.
    case toDevice(ElementDefinition, ElementValue)
    /// A value could not be handed on: it is of another type, out of range, too large for the hub, or the device takes
    /// none now. One that is too large is told once; it and those as large are left out from then on.
    case failed(ElementDefinition, Direction, any Error)
    /// Values came faster than they may pass, and the queue is full: the newest was dropped.
    case dropped(ElementDefinition, Direction)
    /// The hub's connection is lost, for this reason if there is one, and is being made again.
    case hubAway(SignalRError?)
    /// The hub's connection was made again.
    case hubReturned
}
