public import ElementalWire

// Connections whose lifetime is that of the code that uses them.
extension ElementalDevice {
    /// Connects by host and port, runs `body` with the device, and closes the connection however `body` ends.
    ///
    /// ```swift
    /// try await ElementalDevice.withConnection(host: "192.168.1.7", port: 5000, as: "Rob's iPhone", elements: Lamp.all) { device in
    ///     try await device.sendWhenReady(0.8, to: Lamp.brightness)
    /// }
    /// ```
    /// Values sent before `body` returns are flushed before the connection is closed. The parameters are those of
    /// `connect`.
    /// - Throws: what `connect` throws, and what `body` throws.
    public static func withConnection<Result>(
        host: String, port: Int, as name: String, elements: ElementCatalogue? = nil,
        options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (ElementalDevice) async throws -> Result
    ) async throws -> Result {
        let device = try await connect(
            host: host, port: port, as: name, elements: elements, options: options, configure: configure)
        return try await device.closing(after: body, isolation: isolation)
    }

    fileprivate func closing<Result>(
        after body: (ElementalDevice) async throws -> Result, isolation: isolated (any Actor)?
    ) async throws -> Result {
        do {
            let result = try await body(self)
            await close()
            return result
        } catch {
            await close()
            throw error
        }
    }
}

extension DiscoveredService {
    /// Connects, runs `body` with the device, and closes the connection however `body` ends.
    ///
    /// ```swift
    /// try await service.withConnection(as: "Rob's iPhone", elements: Lamp.all) { device in
    ///     try await device.sendWhenReady(0.8, to: Lamp.brightness)
    /// }
    /// ```
    /// Values sent before `body` returns are flushed before the connection is closed. The parameters are those of
    /// `connect`.
    /// - Throws: what `connect` throws, and what `body` throws.
    public func withConnection<Result>(
        as name: String, elements: ElementCatalogue? = nil, options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (ElementalDevice) async throws -> Result
    ) async throws -> Result {
        let device = try await connect(as: name, elements: elements, options: options, configure: configure)
        return try await device.closing(after: body, isolation: isolation)
    }
}
