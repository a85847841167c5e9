public import Elemental

/// What happens to a gateway.
public enum GatewayEvent: Sendable {
    /// The line is ready; the text says where to attach a machine or an emulator.
    case lineReady(String)
    /// The machine is there.
    case lineOpened
    /// The machine is gone; the next attempt comes after that time, or is the machine's turn.
    case lineLost(String, retryIn: Duration?)
    /// A program is connected, by this name.
    case programConnected(String)
    /// It is not connected any more.
    case programDisconnected(String)
    /// The machine told a value.
    case told(ElementDefinition, ElementValue)
    /// A client's value does not go to the machine.
    case refused(ElementDefinition, device: ElementalDevice, reason: String)
}
