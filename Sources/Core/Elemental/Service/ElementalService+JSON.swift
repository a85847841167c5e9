public import ElementalWire

// Elements of `JSON<Value>` accept and return the plain `Codable` value.
extension ElementalService {
    /// Calls `handler` with every value of the element that a device sends and that can be decoded, on the service's
    /// event loop. Others are refused and counted (``DeviceStatistics/messagesMalformed``).
    @discardableResult
    public func onValue<Value>(
        of element: Element<JSON<Value>>, perform handler: @escaping @Sendable (Value, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        addHandler(for: element.id) { bytes, device in
            guard let json = JSON<Value>(received: bytes) else { return device.noteUndecodable(element.id) }
            handler(json.value, device)
        }
    }

    /// Calls `handler` with every value of the element that a device sends and that can be decoded, on the service's
    /// event loop. Others are refused and counted (``DeviceStatistics/messagesMalformed``).
    @discardableResult
    public func onValue<Value>(
        of element: Element<JSON<Value>>, perform handler: @escaping @Sendable (Value) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, _ in handler(value) }
    }

    /// Sets a `Codable` element's value and sends it as JSON to every device.
    ///
    /// - Returns: the devices that the value could not be sent to, with the reason of each.
    /// - Throws: the same errors as for other values, and ``ElementalError/Code/invalidValue`` if the value cannot be
    ///   encoded.
    @discardableResult
    public func send<Value>(_ value: Value, to element: Element<JSON<Value>>) throws(ElementalError) -> [SendFailure] {
        try send(ElementalDevice.json(value, element.definition), to: element)
    }

    /// The value last set for the element, or `nil`.
    public func value<Value>(of element: Element<JSON<Value>>) -> Value? {
        shared.current.withLock { $0[element.id] }?.withUnsafeBytes { JSON<Value>(wireBytes: $0)?.value }
    }
}
