import Elemental
import Support

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
