public import Elemental

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
