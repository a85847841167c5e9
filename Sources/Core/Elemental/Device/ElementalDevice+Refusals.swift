public import ElementalWire

/// A handler for values that the service refused.
typealias RefusalHandler =
    @Sendable (_ element: ElementDefinition, _ refusal: ValueRefusal, _ device: ElementalDevice) -> Void

extension ElementalDevice {
    /// Calls `handler` on the connection's event loop when the service refused a value that this end sent.
    ///
    /// The element's current value, if the service has set one, follows like any other value, so that a display reverts
    /// to it. Both arrive before the answer to a ``ping(over:size:timeout:)`` that was sent over TCP after the value.
    /// An older ElementalController refuses silently.
    @discardableResult
    public func onRefusal(
        _ handler: @escaping @Sendable (ElementDefinition, ValueRefusal, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        handlers.addForRefusals(handler)
    }

    /// Whether the other end wants to be notified of refused values.
    var takesRefusals: Bool { hello?.features.contains(.refusals) == true }
}
