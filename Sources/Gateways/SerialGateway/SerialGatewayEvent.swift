public import Elemental
@_exported public import SerialLines
import Support

/// An event of a gateway.
public enum SerialGatewayEvent: Sendable {
    /// The line has changed.
    case line(LineEvent)
    /// A device has introduced itself and becomes this service.
    case deviceAppeared(ElementalService)
    /// A device that was reset, or whose line was lost for a moment, is back.
    case deviceReturned(ElementalService)
    /// The device receives this many values that clients had set before or during its absence.
    case restored(Int)
    /// A device is lost; its service is withdrawn unless it returns in time.
    case deviceLost(ElementalService)
    /// The service of a device that did not return is withdrawn.
    case deviceGone(ElementalService)
    /// The device on the line cannot be published, for this reason; the next attempt follows after the given time.
    case deviceRejected(String, retryIn: Duration)
    /// The values of the device on the line are kept in memory only, for this reason, until the gateway is started again or
    /// another device was on the line.
    case keptInMemory(SecurityError)
    /// The device sent an invalid value, which is dropped.
    case problem(String)
}

/// Why a gateway cannot use its line, and what to do.
public typealias SerialGatewayError = LineError

extension SerialGatewayEvent: CustomStringConvertible {
    /// A line for a log: `appeared: oven/Kitchen`. Names and reasons from outside are escaped.
    public var description: String { text.printable }

    private var text: String {
        func name(_ service: ElementalService) -> String { "\(service.service)/\(service.displayName)" }
        return switch self {
        case .line(let event): event.description
        case .deviceAppeared(let service): "appeared: \(name(service))"
        case .deviceReturned(let service): "returned: \(name(service))"
        case .restored(let count): "\(count) values of clients are sent again"
        case .deviceLost(let service): "lost: \(name(service))"
        case .deviceGone(let service): "gone: \(name(service))"
        case .deviceRejected(let reason, let delay): "not published: \(reason); retrying in \(delay)"
        case .keptInMemory(let error): "values are kept in memory only: \(error)"
        case .problem(let reason): reason
        }
    }
}
