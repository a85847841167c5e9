public import ElementalWire

extension ElementalService {
    /// Calls `handler` on the service's event loop with every value of the element that a device sends and when it was
    /// measured; see ``ElementalDevice/time(of:)``.
    @discardableResult
    public func onTimedValue<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (Value, ReceivedTime?, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, device in handler(value, device.time(of: element), device) }
    }

    /// Sets an element's value, measured at a given time, and sends it to every device. A device that connects later
    /// receives it with that time.
    ///
    /// - Parameter time: when it was measured; `nil` for this moment.
    /// - Returns: the devices that the value could not be sent to, with the reason of each.
    /// - Throws: ``ElementalError`` as ``send(_:to:)-(Value,Element<Value>)`` does.
    @discardableResult
    public func send<Value>(
        _ value: Value, to element: Element<Value>, at time: MeasurementTime?
    ) throws(ElementalError) -> [SendFailure] {
        if !element.allows(value) { throw ElementalDevice.outOfRange(value.elementValue, element.definition) }
        return try (try value.withWireBytes { broadcast(element.definition, $0, at: time) }).get()
    }

    /// Sets the value of an element known at run time, measured at a given time, and sends it to every device.
    ///
    /// - Parameter time: when it was measured; `nil` for this moment.
    /// - Returns: the devices that the value could not be sent to, with the reason of each.
    /// - Throws: ``ElementalError`` as ``send(_:to:)-(ElementValue,ElementDefinition)`` does.
    @discardableResult
    public func send(
        _ value: ElementValue, to element: ElementDefinition, at time: MeasurementTime?
    ) throws(ElementalError) -> [SendFailure] {
        try ElementalDevice.check(value, element)
        return try (try value.withWireBytes { broadcast(element, $0, at: time) }).get()
    }
}
