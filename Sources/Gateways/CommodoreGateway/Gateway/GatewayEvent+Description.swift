import Elemental
import Support

extension GatewayEvent: CustomStringConvertible {
    /// A line for a log: `the line is lost: its device is gone`. Names and reasons from elsewhere are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .lineReady(let line): "the line is \(line)"
        case .lineOpened: "the line is open"
        case .lineLost(let reason, let delay):
            "the line is lost: \(reason)" + (delay.map { "; next attempt in \($0)" } ?? "")
        case .lineRefused(let host): "\(host) wanted the line and did not get it"
        case .lineFailedToListen(let reason, let delay): "the line does not listen: \(reason); next attempt in \(delay)"
        case .programConnected(let name): "the program '\(name)' is connected"
        case .programDisconnected(let name): "the program '\(name)' is disconnected"
        case .told(let element, let value): "\(element.name)=\(value.description.excerpt)"
        case .refused(let element, let device, let reason):
            "\(element.name) from \(device) is not passed to the machine: \(reason)"
        }
    }
}
