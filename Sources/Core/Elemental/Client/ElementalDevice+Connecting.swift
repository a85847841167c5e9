public import ElementalWire

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
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/invalidValue`` for an empty name or a
    ///   number that is no port, ``ElementalError/Code/connectionFailed``,
    ///   ``ElementalError/Code/timedOut``, ``ElementalError/Code/refused``, ``ElementalError/Code/unauthenticated``,
    ///   ``ElementalError/Code/catalogueMismatch``,
    ///   ``ElementalError/Code/invalidCatalogue``, ``ElementalError/Code/notPaired``,
    ///   ``ElementalError/Code/identityChanged``, ``ElementalError/Code/notAuthorised``, ``ElementalError/Code/cancelled``.
    public static func connect(
        host: String, port: Int, as name: String, elements: ElementCatalogue? = nil,
        options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws(ElementalError) -> ElementalDevice {
        try await Connector(
            endpoint: .host(host, port: port), peerName: "\(host.contains(":") ? "[\(host)]" : host):\(port)",
            service: nil, ownName: name, elements: elements, options: options, configure: configure
        ).connect()
    }
}
