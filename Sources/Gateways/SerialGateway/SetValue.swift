import Elemental
import ElementalWire

/// A value for the device.
struct SetValue {
    let element: ElementDefinition
    let value: ElementValue
    /// The client that set it; `nil` for the gateway, which restores it.
    let client: ElementalDevice?
    /// Until the device has had the time to refuse it.
    var decision: PendingDecision?

    /// The bytes of its frame.
    var frameByteCount: Int { Envelope.streamByteCount + value.wireByteCount }
}
