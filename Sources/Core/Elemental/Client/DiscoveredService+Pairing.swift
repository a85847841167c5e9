public import ElementalSecurity
public import ElementalWire

extension DiscoveredService {
    /// Pairs this client with the service: each stores the other's key. Afterwards `connect` is encrypted.
    ///
    /// ```swift
    /// try await service.pair(as: "Rob's iPhone", options: options) { _ in PairingSecret(code: readLine() ?? "") }
    /// ```
    /// A wrong code counts at the service, which closes its window after five. Do not try a code again.
    ///
    /// Cancelling the task breaks the pairing off, and nothing is stored here; one that is already being stored goes on.
    /// - Parameters:
    ///   - name: this client's name, under which the service lists it; not empty.
    ///   - role: what the client wants to do. It gets this or what the service offers, whichever is less.
    ///   - options: with the client's identity and store in ``ConnectOptions/security``.
    ///   - enter: returns what the service shows; `nil` to give up. The client is not connected meanwhile.
    /// - Returns: what was stored about the service.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/wrongCode``,
    ///   ``ElementalError/Code/pairingClosed``, ``ElementalError/Code/identityChanged`` if the service is paired with
    ///   another key, ``ElementalError/Code/connectionFailed``, ``ElementalError/Code/timedOut``,
    ///   ``ElementalError/Code/cancelled``, ``ElementalError/Code/invalidState`` without an identity, or if the service has
    ///   the same one.
    @discardableResult
    public func pair(
        as name: String, role: Role = .control, options: ConnectOptions,
        isolation: isolated (any Actor)? = #isolation, _ enter: (PairingRequest) async -> PairingSecret?
    ) async throws(ElementalError) -> TrustedService {
        let connector = Connector(
            endpoint: endpoint, peerName: self.name, service: service, ownName: name, elements: nil, options: options,
            configure: { _ in }, announcement: ServiceAnnouncement(self))
        return try await ServicePairing(connector: connector, role: role).run(enter)
    }
}

extension ElementalDevice {
    /// Pairs this client with a service by host and port, without Zeroconf.
    ///
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: the service's port.
    ///   - name: this client's name, under which the service lists it; not empty.
    ///   - role: what the client wants to do. It gets this or what the service offers, whichever is less.
    ///   - options: with the client's identity and store in ``ConnectOptions/security``.
    ///   - enter: returns what the service shows; `nil` to give up. The client is not connected meanwhile.
    /// - Returns: what was stored about the service.
    /// - Throws: ``ElementalError`` as ``DiscoveredService/pair(as:role:options:isolation:_:)`` does.
    @discardableResult
    public static func pair(
        host: String, port: Int, as name: String, role: ElementalWire.Role = .control, options: ConnectOptions,
        isolation: isolated (any Actor)? = #isolation, _ enter: (PairingRequest) async -> PairingSecret?
    ) async throws(ElementalError) -> TrustedService {
        let connector = Connector(
            endpoint: .host(host, port: port), peerName: "\(host.contains(":") ? "[\(host)]" : host):\(port)",
            service: nil, ownName: name, elements: nil, options: options, configure: { _ in })
        return try await ServicePairing(connector: connector, role: role).run(enter)
    }
}
