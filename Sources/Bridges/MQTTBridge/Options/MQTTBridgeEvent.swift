public import ElementalFollowing
public import MQTT
internal import Support

/// An event of a bridge. Names and reasons contain text from the network.
public enum MQTTBridgeEvent: Sendable, CustomStringConvertible {
    /// The connection to the broker is open.
    case brokerConnected
    /// The broker cannot be reached, or the connection to it was lost; the next attempt follows after the delay.
    case brokerAway(MQTTError, retryIn: Duration)
    /// The broker refuses subscriptions that the bridge needs.
    case brokerRefuses(MQTTError)
    /// Another bridge at this broker has the same ``MQTTBridgeOptions/id``: each overwrites the availability of the
    /// other's services. Reported at most once a minute.
    case sharedID(String)
    /// The outcome of passing a value on.
    case value(BridgedValue)
    /// A service, or one of its elements, is not shown as the options ask.
    case notShown(ServiceKey, any Error)

    /// A line for a log. Names and reasons from other programs are escaped.
    public var description: String {
        switch self {
        case .brokerConnected: "the broker is connected"
        case .brokerAway(let error, let delay): "the broker is not connected: \(error); retrying in \(delay)"
        case .brokerRefuses(let error): "the broker refuses: \(error)"
        case .sharedID(let id): "another bridge has the id '\(id)'; give each its own".printable
        case .value(let value): value.description
        case .notShown(let key, let error): "\(key) is not shown: \(error)".printable
        }
    }
}
