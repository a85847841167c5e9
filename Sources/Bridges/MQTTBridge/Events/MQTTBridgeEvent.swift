public import Elemental
public import MQTT

/// What happens on a bridge. Names and reasons have text from the network in them.
public enum MQTTBridgeEvent: Sendable {
    /// The direction of a value.
    public enum Direction: String, Sendable, Hashable {
        case toBroker, toDevice
    }

    /// A service that is bridged.
    public struct Service: Sendable, Hashable {
        /// The service's name, such as `robot`; `nil` for one that was given by host and port.
        public let service: String?
        /// The instance's name, such as "Rover", or `HOST:PORT`.
        public let name: String
    }

    /// The connection to the broker is open.
    case brokerConnected
    /// The broker cannot be reached, or the connection to it was lost; the next attempt follows after the delay.
    case brokerAway(MQTTError, retryIn: Duration)
    /// The broker does not let the bridge subscribe to what it needs.
    case brokerRefuses(MQTTError)
    /// Another bridge to this broker has the same ``MQTTBridgeOptions/id``: each says of the other's services that they are
    /// there, or not. It is told once a minute at most.
    case sharedID(String)
    /// The broker was given a value of a service.
    case toBroker(Service, ElementDefinition, ElementValue)
    /// A service was sent a value of the broker's.
    case toDevice(Service, ElementDefinition, ElementValue)
    /// A value was not passed on, for this reason.
    case notPassed(Service, ElementDefinition, Direction, any Error)
    /// There was no room for a value.
    case dropped(Service, ElementDefinition, Direction)
    /// A service, or one of its elements, is not shown as the options ask.
    case notShown(Service, any Error)
}
