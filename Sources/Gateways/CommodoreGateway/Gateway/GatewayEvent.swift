public import Elemental
@_exported public import SerialLines
import Support

/// An event of a gateway.
public enum GatewayEvent: Sendable {
    /// The line has changed.
    case line(LineEvent)
    /// A program with this name is connected.
    case programConnected(String)
    /// The program with this name is disconnected.
    case programDisconnected(String)
    /// The machine sent a value.
    case told(ElementDefinition, ElementValue)
    /// A client's value cannot be sent to the machine.
    case refused(ElementDefinition, device: ElementalDevice, reason: String)
}

extension GatewayEvent: CustomStringConvertible {
    /// A line for a log: `the program 'chat' is connected`. Names and reasons from outside are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .line(let event): event.description
        case .programConnected(let name): "the program '\(name)' is connected"
        case .programDisconnected(let name): "the program '\(name)' is disconnected"
        case .told(let element, let value): "\(element.name)=\(value.description.excerpt)"
        case .refused(let element, let device, let reason):
            "\(element.name) from \(device) is not passed to the machine: \(reason)"
        }
    }
}
