import Elemental
internal import Support

extension OSCBridgeEvent: CustomStringConvertible {
    /// A line for a log: `Speed=0.5 from a surface, at /Rover/Speed`. Names and reasons from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .listening(let port, let queryPort): "listening for OSC on port \(port), for OSCQuery on port \(queryPort)"
        case .failedToListen(let error, let delay): "not listening: \(error); next attempt in \(delay)"
        case .announced(let name): "announced as '\(name)'"
        case .notAnnounced(let error): "not announced: \(error)"
        case .surface(let surface): "\(surface) sends OSC"
        case .invalid(let surface, let reason): "\(surface) sent what is no OSC: \(reason)"
        case .unknownAddress(let surface, let address): "\(surface): there is no element at \(address.excerpt)"
        case .shown(let service, let name, let prefix):
            "\((service.map { "\($0)/" } ?? "") + name) is at \(prefix)"
        case .toSurfaces(let place, let element, let value):
            "\(element.name)=\(value.description.excerpt) to the surfaces, at \(place.address)"
        case .toDevice(let place, let element, let value):
            "\(element.name)=\(value.description.excerpt) from a surface, at \(place.address)"
        case .notPassed(let place, _, let direction, let error):
            "\(place.address) not passed \(direction.words): \(error)"
        case .dropped(let place, _, let direction): "\(place.address) dropped \(direction.words)"
        case .overloaded(let reason): "\(reason)"
        }
    }
}

extension OSCBridgeEvent.Direction {
    fileprivate var words: String {
        switch self {
        case .toSurfaces: "to the surfaces"
        case .toDevice: "from a surface"
        }
    }
}
