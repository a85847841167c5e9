public import ElementalWire

/// What is told of a value that the service refused.
typealias RefusalHandler =
    @Sendable (_ element: ElementDefinition, _ refusal: ValueRefusal, _ device: ElementalDevice) -> Void

extension ElementalDevice {
    /// Calls `handler` on the connection's event loop when the service did not take a value that this end sent.
    ///
    /// The element's current value, if the service has set one, follows as any value does, so that a display goes back to
    /// what holds. Both come before the answer to a ``ping(over:size:timeout:)`` that was sent over TCP behind the value.
    /// An older ElementalController refuses silently.
    @discardableResult
    public func onRefusal(
        _ handler: @escaping @Sendable (ElementDefinition, ValueRefusal, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        handlers.addForRefusals(handler)
    }

    /// Whether the other end wants to know of values that are refused.
    var takesRefusals: Bool { hello?.features.contains(.refusals) == true }
}
