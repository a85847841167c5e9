public import Elemental

/// What happens to a gateway.
public enum GatewayEvent: Sendable {
    /// The line can be used: where a machine or an emulator is to be attached.
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
