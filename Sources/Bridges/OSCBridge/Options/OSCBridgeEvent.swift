public import Elemental
public import ElementalFollowing
internal import Support

/// An event of a bridge. Names, addresses and reasons contain text from the network.
public enum OSCBridgeEvent: Sendable, CustomStringConvertible {
    /// The bridge listens for OSC on this UDP port, and for OSCQuery on this TCP port.
    case listening(port: Int, queryPort: Int)
    /// The system has closed a socket for OSC or OSCQuery, or it cannot be opened again, for this reason. The next
    /// attempt follows after the delay, and ``listening(port:queryPort:)`` when the socket is open.
    case failedToListen(ElementalError, retryIn: Duration)
    /// The bridge is announced under this name.
    case announced(name: String)
    /// The bridge cannot be announced, for this reason. It keeps retrying.
    case notAnnounced(ElementalError)
    /// A surface receives values from now on, because it sent something and its address is confirmed: `ADDRESS:PORT`.
    case surface(String)
    /// A packet is not valid OSC, for this reason. Reported once for each surface, and at most once in ten seconds for
    /// other senders.
    case invalid(surface: String, reason: String)
    /// A surface used an address without an element. Reported once for each surface.
    case unknownAddress(surface: String, String)
    /// The elements of a service have addresses with this prefix.
    case shown(ServiceKey, prefix: String)
    /// The outcome of passing a value on.
    case value(BridgedValue)
    /// Patterns or bundles exceed a limit, and the excess is dropped. Reported at most once in ten seconds.
    case overloaded(reason: String)

    /// A line for a log. Names and reasons from other programs are escaped.
    public var description: String {
        let text =
            switch self {
            case .listening(let port, let queryPort):
                "listening for OSC on port \(port), for OSCQuery on port \(queryPort)"
            case .failedToListen(let error, let delay): "not listening for OSC: \(error); retrying in \(delay)"
            case .announced(let name): "announced as '\(name)'"
            case .notAnnounced(let error): "not announced: \(error.message); retrying"
            case .surface(let surface): "\(surface) sends OSC"
            case .invalid(let surface, let reason): "\(surface) sent an invalid OSC packet: \(reason)"
            case .unknownAddress(let surface, let address): "\(surface): there is no element at \(address.excerpt)"
            case .shown(let key, let prefix): "\(key): its elements are at \(prefix)…"
            case .value(let value): value.description
            case .overloaded(let reason): reason
            }
        return text.printable
    }
}
