public import Elemental
public import ElementalFollowing
internal import Support

/// What happens on a bridge. Names, addresses and reasons have text from the network in them.
public enum OSCBridgeEvent: Sendable, CustomStringConvertible {
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
    case shown(ServiceKey, prefix: String)
    /// What became of a value.
    case value(BridgedValue)
    /// Patterns or bundles cost more than they may; what is too much is left out. Told once in ten seconds at most.
    case overloaded(reason: String)

    /// A line for a log. Names and reasons from other programs are escaped.
    public var description: String {
        let text =
            switch self {
            case .listening(let port, let queryPort):
                "listening for OSC on port \(port), for OSCQuery on port \(queryPort)"
            case .failedToListen(let error, let delay): "OSC is not heard: \(error); next attempt in \(delay)"
            case .announced(let name): "announced as '\(name)'"
            case .notAnnounced(let error): "not announced: \(error.message); trying again"
            case .surface(let surface): "\(surface) sends OSC"
            case .invalid(let surface, let reason): "\(surface) sent what is no OSC: \(reason)"
            case .unknownAddress(let surface, let address): "\(surface): there is no element at \(address.excerpt)"
            case .shown(let key, let prefix): "\(key): its elements are at \(prefix)…"
            case .value(let value): value.description
            case .overloaded(let reason): reason
            }
        return text.printable
    }
}
