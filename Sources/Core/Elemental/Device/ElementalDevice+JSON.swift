public import ElementalWire

// Elements of `JSON<Value>` are sent and received as plain `Codable` values.
extension ElementalDevice {
    /// Sends a `Codable` value as JSON.
    ///
    /// - Throws: ``ElementalError`` as the other sends do, and with the code ``ElementalError/Code/invalidValue`` if
    ///   the value cannot be encoded.
    public func send<Value>(_ value: Value, to element: Element<JSON<Value>>) throws(ElementalError) {
        try send(Self.json(value, element.definition), to: element)
    }

    /// Sends a `Codable` value as JSON and waits until the service has handled it.
    ///
    /// - Throws: ``ElementalError`` as the other `set` methods do, and with the code
    ///   ``ElementalError/Code/invalidValue`` if the value cannot be encoded.
    public func set<Value>(
        _ value: Value, to element: Element<JSON<Value>>, timeout: Duration = .seconds(5)
    ) async throws(ElementalError) {
        try await set(Self.json(value, element.definition), to: element, timeout: timeout)
    }

    /// Calls `handler` on the connection's event loop with every value received for the element that can be decoded.
    /// Other values are counted (``DeviceStatistics/messagesMalformed``), and refused if the peer is a client.
    @discardableResult
    public func onValue<Value>(
        of element: Element<JSON<Value>>, perform handler: @escaping @Sendable (Value, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { (json: JSON<Value>, device: ElementalDevice) in handler(json.value, device) }
    }

    /// Calls `handler` on the connection's event loop with every value received for the element that can be decoded.
    /// Other values are counted (``DeviceStatistics/messagesMalformed``), and refused if the peer is a client.
    @discardableResult
    public func onValue<Value>(
        of element: Element<JSON<Value>>, perform handler: @escaping @Sendable (Value) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, _ in handler(value) }
    }

    /// The newest value received for the element, or `nil` if there is none or it cannot be decoded.
    public func value<Value>(of element: Element<JSON<Value>>) -> Value? {
        (value(of: element) as JSON<Value>?)?.value
    }

    package static func json<Value>(_ value: Value, _ element: ElementDefinition) throws(ElementalError) -> JSON<Value>
    {
        do {
            return try JSON(value)
        } catch {
            throw ElementalError(
                .invalidValue, "the value for '\(element.name)' cannot be encoded as JSON", cause: error)
        }
    }
}
