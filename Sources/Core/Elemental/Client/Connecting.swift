public import ElementalWire

extension DiscoveredService {
    /// Connects to the service.
    ///
    /// - Parameters:
    ///   - name: this client's name, under which the service lists it; not empty.
    ///   - elements: the elements that both ends share; `nil` to use those that the service announces.
    ///   - configure: called on the event loop before the first value is delivered: add handlers here that must not
    ///     miss any.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/connectionFailed``,
    ///   ``ElementalError/Code/hostNotFound``, ``ElementalError/Code/timedOut``, ``ElementalError/Code/refused``,
    ///   ``ElementalError/Code/unauthenticated``, ``ElementalError/Code/catalogueMismatch``,
    ///   ``ElementalError/Code/invalidCatalogue``, ``ElementalError/Code/notPaired``,
    ///   ``ElementalError/Code/identityChanged``, ``ElementalError/Code/notAuthorised``,
    ///   ``ElementalError/Code/cancelled``.
    public func connect(
        as name: String, elements: ElementCatalogue? = nil, options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws(ElementalError) -> ElementalDevice {
        try await ServicePlace.found(self).connect(
            as: name, elements: elements, options: options, configure: configure)
    }

    /// Connects, runs `body` with the device, and closes the connection however `body` ends.
    ///
    /// ```swift
    /// try await service.withConnection(as: "Rob's iPhone", elements: Lamp.all) { device in
    ///     try await device.sendWhenReady(0.8, to: Lamp.brightness)
    /// }
    /// ```
    /// Values sent before `body` returns are flushed before the connection is closed.
    /// - Throws: what `connect` throws, and what `body` throws.
    public func withConnection<Result>(
        as name: String, elements: ElementCatalogue? = nil, options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation, _ body: (ElementalDevice) async throws -> Result
    ) async throws -> Result {
        try await ServicePlace.found(self).withConnection(
            as: name, elements: elements, options: options, configure: configure, body)
    }
}

extension ElementalDevice {
    /// Connects to a service by host and port, without Zeroconf.
    ///
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: the service's port, TCP and UDP.
    ///   - name: this client's name, under which the service lists it; not empty.
    ///   - elements: the elements that both ends share; `nil` to use those that the service announces.
    ///   - options: timeouts, memory limits, reconnection, logging.
    ///   - configure: called on the event loop before the first value is delivered: the place to add handlers that must
    ///     not miss any.
    /// - Returns: the device, ready to send.
    /// - Throws: ``ElementalError`` as ``DiscoveredService/connect(as:elements:options:configure:)`` does, and with the
    ///   code ``ElementalError/Code/invalidValue`` for an empty name or an invalid port.
    public static func connect(
        host: String, port: Int, as name: String, elements: ElementCatalogue? = nil,
        options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws(ElementalError) -> ElementalDevice {
        try await ServicePlace.address(host: host, port: port).connect(
            as: name, elements: elements, options: options, configure: configure)
    }

    /// Connects by host and port, runs `body` with the device, and closes the connection however `body` ends.
    ///
    /// ```swift
    /// try await ElementalDevice.withConnection(
    ///     host: "192.168.1.7", port: 5000, as: "Rob's iPhone", elements: Lamp.all
    /// ) { device in
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
        try await ServicePlace.address(host: host, port: port).withConnection(
            as: name, elements: elements, options: options, configure: configure, body)
    }
}

extension ServicePlace {
    package func connect(
        as name: String, elements: ElementCatalogue?, options: ConnectOptions,
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws(ElementalError) -> ElementalDevice {
        try await Connector(place: self, ownName: name, elements: elements, options: options, configure: configure)
            .connect()
    }

    package func withConnection<Result>(
        as name: String, elements: ElementCatalogue?, options: ConnectOptions,
        configure: @escaping @Sendable (ElementalDevice) -> Void, isolation: isolated (any Actor)? = #isolation,
        _ body: (ElementalDevice) async throws -> Result
    ) async throws -> Result {
        let device = try await connect(as: name, elements: elements, options: options, configure: configure)
        do {
            let result = try await body(device)
            await device.close()
            return result
        } catch {
            await device.close()
            throw error
        }
    }
}
