public import ElementalWire
import NIOCore

extension DiscoveredService {
    /// Connects to the service.
    ///
    /// - Parameters:
    ///   - name: this client's name, under which the service lists it; not empty.
    ///   - elements: the elements that both ends share; `nil` to use those that the service announces.
    ///   - options: timeouts, memory limits, reconnection, logging.
    ///   - configure: called on the event loop before the first value is delivered: the place to add handlers that must
    ///     not miss any.
    /// - Returns: the device, ready to send.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/connectionFailed``,
    ///   ``ElementalError/Code/timedOut``, ``ElementalError/Code/refused``, ``ElementalError/Code/unauthenticated``,
    ///   ``ElementalError/Code/catalogueMismatch``,
    ///   ``ElementalError/Code/invalidCatalogue``, ``ElementalError/Code/notPaired``,
    ///   ``ElementalError/Code/identityChanged``, ``ElementalError/Code/notAuthorised``, ``ElementalError/Code/cancelled``.
    public func connect(
        as name: String, elements: ElementCatalogue? = nil, options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws(ElementalError) -> ElementalDevice {
        var options = options
        options.expectsHello = saysHello
        return try await Connector(
            endpoint: endpoint, peerName: self.name, service: service, ownName: name, elements: elements,
            options: options, configure: configure, announcement: ServiceAnnouncement(self)
        ).connect()
    }

    var endpoint: Connector.Endpoint {
        let known = addresses.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        if !known.isEmpty { return .addresses(known) }
        // Without addresses the system's resolver is the last resort; it knows ".local" where nss-mdns is installed.
        return .host(host.hasSuffix(".") ? String(host.dropLast()) : host, port: port)
    }
}
