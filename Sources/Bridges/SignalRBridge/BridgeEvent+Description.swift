import Elemental
import Support

extension BridgeEvent: CustomStringConvertible {
    /// A line for a log: `Speed=0.5 to the hub`. Names and reasons from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .toHub(let element, let value): "\(element.name)=\(value.description.excerpt) to the hub"
        case .toDevice(let element, let value): "\(element.name)=\(value.description.excerpt) from the hub"
        case .failed(let element, let direction, let error): "\(element.name) not passed \(direction.words): \(error)"
        case .dropped(let element, let direction): "\(element.name) dropped \(direction.words)"
        case .hubAway(let error): "the hub is away" + (error.map { ": \($0)" } ?? "")
        case .hubReturned: "the hub is connected again"
        }
    }
}

extension BridgeEvent.Direction {
    fileprivate var words: String {
        switch self {
        case .toHub: "to the hub"
        case .toDevice: "from the hub"
        }
    }
}
