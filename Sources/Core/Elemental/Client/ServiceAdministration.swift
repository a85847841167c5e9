public import ElementalSecurity
public import ElementalWire

extension DiscoveredService {
    /// Opens the service's pairing window, as an admin of it: one client can then pair with the returned secret.
    ///
    /// A program with the service's own identity, which is one of the same user, is an admin on the service's host.
    /// Other clients must have been granted that role, and can open windows for ``Role/control`` at most.
    /// - Parameters:
    ///   - duration: how long the window stays open, clamped to 1 s to an hour.
    ///   - role: the highest role that the client can get.
    ///   - kind: six digits for the user to type, or a long secret.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/notAuthorised``,
    ///   ``ElementalError/Code/notPaired``, ``ElementalError/Code/identityChanged``,
    ///   ``ElementalError/Code/connectionFailed``, ``ElementalError/Code/timedOut``,
    ///   ``ElementalError/Code/invalidState`` without an identity.
    public func openPairing(
        for duration: Duration = .seconds(300), role: Role = .control, _ kind: PairingSecret.Kind = .code,
        options: ConnectOptions
    ) async throws(ElementalError) -> OpenedPairing {
        try await Connector(place: .found(self), ownName: "", options: options).openPairing(duration, role, kind)
    }

    /// Revokes a client's pairing with the service, as an admin of it. The client's connections end within 2 s.
    ///
    /// - Parameters:
    ///   - client: the client's whole fingerprint. A client that the service does not know is not an error.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` as ``openPairing(for:role:_:options:)`` does.
    public func revoke(
        _ client: Fingerprint, options: ConnectOptions
    ) async throws(ElementalError) -> RemoteRevocation {
        try await Connector(place: .found(self), ownName: "", options: options).revoke(client)
    }
}

extension ElementalDevice {
    /// Opens the pairing window of a service by host and port, without Zeroconf.
    ///
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: the service's port.
    ///   - duration: how long the window stays open, clamped to 1 s to an hour.
    ///   - role: the highest role that the client can get.
    ///   - kind: six digits for the user to type, or a long secret.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` as ``DiscoveredService/openPairing(for:role:_:options:)`` does.
    package static func openPairing(
        host: String, port: Int, for duration: Duration = .seconds(300), role: ElementalWire.Role = .control,
        _ kind: PairingSecret.Kind = .code, options: ConnectOptions
    ) async throws(ElementalError) -> OpenedPairing {
        try await Connector(place: .address(host: host, port: port), ownName: "", options: options)
            .openPairing(duration, role, kind)
    }

    /// Revokes a client's pairing with a service by host and port. The client's connections end within 2 s.
    ///
    /// - Parameters:
    ///   - client: the client's whole fingerprint. A client that the service does not know is not an error.
    ///   - host: a host name or an address.
    ///   - port: the service's port.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` as ``DiscoveredService/openPairing(for:role:_:options:)`` does.
    package static func revoke(
        _ client: Fingerprint, host: String, port: Int, options: ConnectOptions
    ) async throws(ElementalError) -> RemoteRevocation {
        try await Connector(place: .address(host: host, port: port), ownName: "", options: options).revoke(client)
    }
}

extension Connector {
    func openPairing(
        _ duration: Duration, _ role: Role, _ kind: PairingSecret.Kind
    ) async throws(ElementalError) -> OpenedPairing {
        let seconds = UInt16(clamping: max(duration, .seconds(1)).components.seconds)
        return try await administer(.openWindow(seconds: seconds, role, kind)) { outcome in
            if case .windowOpened(let window) = outcome { window } else { nil }
        }
    }

    func revoke(_ client: Fingerprint) async throws(ElementalError) -> RemoteRevocation {
        try await administer(.revoke(client)) { outcome in
            if case .revoked(let revocation) = outcome { revocation } else { nil }
        }
    }

    private func administer<Answer: Sendable>(
        _ purpose: ClientAdmission.Purpose, _ answer: @escaping @Sendable (ClientGateHandler.Outcome) -> Answer?
    ) async throws(ElementalError) -> Answer {
        try await AdmissionRequest(connector: self) { keys in
            // Only a service whose key is known is asked: another one could pretend to be it and be paired with in its
            // place.
            let security = ClientSecurity.required(identity: keys.identity, store: keys.store)
            let expected = try security.decide(
                target(), announced: place.discovered?.security, proven: nil, name: peerName)
            guard let expected else { throw ElementalError.notPaired(peerName) }
            return AdmissionRequest.Work(
                identity: expected.identity, purpose: purpose, accepts: { expected.accepts($0) },
                answer: { outcome, _ in answer(outcome) }, explain: { explain($0, place.endpoint, expected) })
        }.run()
    }
}
