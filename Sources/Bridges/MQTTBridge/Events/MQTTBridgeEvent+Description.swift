import Elemental
internal import Support

extension MQTTBridgeEvent: CustomStringConvertible {
    /// A line for a log: `robot/Rover: Speed=0.5 to the broker`. Names and reasons from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .brokerConnected: "the broker is connected"
        case .brokerAway(let error, let delay): "the broker is away: \(error); next attempt in \(delay)"
        case .brokerRefuses(let error): "the broker refuses: \(error)"
        case .sharedID(let id): "another bridge has the id '\(id)'"
        case .toBroker(let service, let element, let value):
            "\(service): \(element.name)=\(value.description.excerpt) to the broker"
        case .toDevice(let service, let element, let value):
            "\(service): \(element.name)=\(value.description.excerpt) from the broker"
        case .notPassed(let service, let element, let direction, let error):
            "\(service): \(element.name) not passed \(direction.words): \(error)"
        case .dropped(let service, let element, let direction):
            "\(service): \(element.name) dropped \(direction.words)"
        case .notShown(let service, let error): "\(service) is not shown: \(error)"
        }
    }
}

extension MQTTBridgeEvent.Service: CustomStringConvertible {
    /// `robot/Rover` or `HOST:PORT`, escaped.
    public var description: String { ((service.map { "\($0)/" } ?? "") + name).printable }
}

extension MQTTBridgeEvent.Direction {
    fileprivate var words: String {
        switch self {
        case .toBroker: "to the broker"
        case .toDevice: "from the broker"
        }
    }
}
