public import Elemental
internal import Support

/// The outcome of passing a value on. Names and reasons contain text from the network.
public struct BridgedValue: Sendable, CustomStringConvertible {
    /// The other side of the bridge.
    public enum Peer: String, Sendable, Hashable {
        /// The peer of a bridge: an MQTT broker, a SignalR hub, or OSC surfaces.
        case broker, hub, surfaces
    }

    /// The outcome.
    public enum Outcome: Sendable {
        case passed(ElementValue)
        /// It was not passed on, for this reason.
        case notPassed(any Error)
        /// There was no room for it.
        case dropped
    }

    /// The service.
    public let key: ServiceKey
    /// The element.
    public let element: ElementDefinition
    /// The outcome for the value.
    public let outcome: Outcome
    /// The other side of the bridge.
    public let peer: Peer
    /// Whether the value is for the service, not from it.
    public let isForService: Bool
    /// The element's address on the other side, where it has one besides its name.
    public let address: String?

    package init(
        _ key: ServiceKey, _ element: ElementDefinition, _ outcome: Outcome, _ peer: Peer, isForService: Bool,
        at address: String? = nil
    ) {
        self.key = key
        self.element = element
        self.outcome = outcome
        self.peer = peer
        self.isForService = isForService
        self.address = address
    }

    /// A line for a log: `robot/Rover: Speed=0.5 to the broker`. Names and reasons from other programs are escaped.
    public var description: String {
        let direction = "\(isForService ? "from" : "to") the \(peer)"
        let text =
            switch outcome {
            case .passed(let value): "\(element.name)=\(value.description.excerpt) \(direction)"
            case .notPassed(let error): "\(element.name) not passed \(direction): \(error)"
            case .dropped: "\(element.name) dropped \(direction)"
            }
        return "\(key): \(text)".printable
    }
}
