public import Elemental
import Support

/// An event of a gateway.
public enum GatewayEvent: Sendable {
    /// The line is ready; the text says where to attach a machine or an emulator.
    case lineReady(String)
    /// The machine is connected.
    case lineOpened
    /// The machine is disconnected; the next attempt follows after the given time, or the machine has to connect.
    case lineLost(String, retryIn: Duration?)
    /// Another host than the machine's wanted the line, and did not get it.
    case lineRefused(host: String)
    /// The system has closed the socket at which the machine connects, or it cannot be opened again, for this reason: the next
    /// attempt follows after the delay, and ``lineReady(_:)`` when it is open. A connection lasts.
    case lineFailedToListen(String, retryIn: Duration)
    /// A program with this name is connected.
    case programConnected(String)
    /// It is disconnected.
    case programDisconnected(String)
    /// The machine sent a value.
    case told(ElementDefinition, ElementValue)
    /// A client's value cannot be sent to the machine.
    case refused(ElementDefinition, device: ElementalDevice, reason: String)
}

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
