public import Elemental
import Support

/// An event of a gateway.
public enum SerialGatewayEvent: Sendable {
    /// The line is ready; the text says where to attach a device.
    case lineReady(String)
    /// The line is open.
    case lineOpened
    /// The line is lost; the next attempt follows after the given time, or the other end has to connect.
    case lineLost(String, retryIn: Duration?)
    /// Another host than the device's wanted the line, and did not get it.
    case lineRefused(host: String)
    /// The system has closed the socket at which the device connects, or it cannot be opened again, for this reason: the next
    /// attempt follows after the delay, and ``lineReady(_:)`` when it is open. A connection lasts.
    case lineFailedToListen(String, retryIn: Duration)
    /// A device has introduced itself and becomes this service.
    case deviceAppeared(ElementalService)
    /// A device that was reset, or whose line was lost for a moment, is back.
    case deviceReturned(ElementalService)
    /// The device is told so many values that clients had set before it was away.
    case restored(Int)
    /// A device is not heard any more; its service is withdrawn unless it returns in time.
    case deviceLost(ElementalService)
    /// The service of a device that did not return is withdrawn.
    case deviceGone(ElementalService)
    /// What is on the line cannot be published; it is listened to again after the given time.
    case deviceRejected(String, retryIn: Duration)
    /// The device said something that it may not say, which is left out.
    case problem(String)
}

/// Why a gateway cannot use its line, and what to do.
public struct SerialGatewayError: Error, CustomStringConvertible {
    /// The reason, for a person.
    public let description: String
    /// The underlying error, if there is one.
    public let cause: (any Error)?
}

extension SerialGatewayEvent: CustomStringConvertible {
    /// A line for a log: `appeared: oven/Kitchen`. Names and reasons from elsewhere are escaped.
    public var description: String { text.printable }

    private var text: String {
        func name(_ service: ElementalService) -> String { "\(service.service)/\(service.displayName)" }
        return switch self {
        case .lineReady(let line): "the line is \(line)"
        case .lineOpened: "the line is open"
        case .lineLost(let reason, let delay):
            "the line is lost: \(reason)" + (delay.map { "; next attempt in \($0)" } ?? "")
        case .lineRefused(let host): "\(host) wanted the line and did not get it"
        case .lineFailedToListen(let reason, let delay): "the line does not listen: \(reason); next attempt in \(delay)"
        case .deviceAppeared(let service): "appeared: \(name(service))"
        case .deviceReturned(let service): "returned: \(name(service))"
        case .restored(let count): "\(count) values of clients are told again"
        case .deviceLost(let service): "not heard any more: \(name(service))"
        case .deviceGone(let service): "gone: \(name(service))"
        case .deviceRejected(let reason, let delay): "not published: \(reason); listened to again in \(delay)"
        case .problem(let reason): reason
        }
    }
}
