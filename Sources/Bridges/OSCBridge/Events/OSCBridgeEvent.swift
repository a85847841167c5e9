public import Elemental

/// What happens on a bridge. Names, addresses and reasons have text from the network in them.
public enum OSCBridgeEvent: Sendable {
    /// The direction of a value.
    public enum Direction: String, Sendable, Hashable {
        case toSurfaces, toDevice
    }

    /// An element of a service.
    public struct Place: Sendable, Hashable {
        /// The service's name, such as `robot`; `nil` for one that was given by host and port.
        public let service: String?
        /// The instance's name, such as "Rover", or `HOST:PORT`.
        public let name: String
        /// The element's OSC address.
        public let address: String
    }

    /// OSC is heard on this UDP port, and OSCQuery on that TCP port.
    case listening(port: Int, queryPort: Int)
    /// The system has closed a socket that OSC or OSCQuery is heard on, or it cannot be opened again, for this reason.
    /// The next attempt follows after the delay, and ``listening(port:queryPort:)`` when it is open.
    case failedToListen(ElementalError, retryIn: Duration)
    /// The bridge is announced under this name.
    case announced(name: String)
    /// It cannot be announced, for this reason. It is tried again.
    case notAnnounced(ElementalError)
    /// A surface is told of values from now on, because it sent something and is there: `ADDRESS:PORT`.
    case surface(String)
    /// Somebody sent something that is not OSC, for this reason. Told once for each surface, and of others once in ten
    /// seconds at most.
    case invalid(surface: String, reason: String)
    /// A surface sent something to an address where no element is. Told once for each surface.
    case unknownAddress(surface: String, String)
    /// A service has elements at the addresses that begin so.
    case shown(service: String?, name: String, prefix: String)
    /// The surfaces were told a value.
    case toSurfaces(Place, ElementDefinition, ElementValue)
    /// A service was sent a surface's value.
    case toDevice(Place, ElementDefinition, ElementValue)
    /// A value was not passed on, for this reason.
    case notPassed(Place, ElementDefinition, Direction, any Error)
    /// There was no room for a value.
    case dropped(Place, ElementDefinition, Direction)
    /// Patterns or bundles cost more than they may; what is too much is left out. Told once in ten seconds at most.
    case overloaded(reason: String)
}
