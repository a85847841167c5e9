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
        try await ServiceAdministration(connector: Connector(self, options)).openPairing(
            for: duration, role: role, kind)
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
        try await ServiceAdministration(connector: Connector(self, options)).revoke(client)
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
    public static func openPairing(
        host: String, port: Int, for duration: Duration = .seconds(300), role: ElementalWire.Role = .control,
        _ kind: PairingSecret.Kind = .code, options: ConnectOptions
    ) async throws(ElementalError) -> OpenedPairing {
        try await ServiceAdministration(connector: Connector(host: host, port: port, options)).openPairing(
            for: duration, role: role, kind)
    }

    /// Revokes a client's pairing with a service by host and port. The client's connections end within 2 s.
    ///
    /// - Parameters:
    ///   - client: the client's whole fingerprint. A client that the service does not know is not an error.
    ///   - host: a host name or an address.
    ///   - port: the service's port.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` as ``DiscoveredService/openPairing(for:role:_:options:)`` does.
    public static func revoke(
        _ client: Fingerprint, host: String, port: Int, options: ConnectOptions
    ) async throws(ElementalError) -> RemoteRevocation {
        try await ServiceAdministration(connector: Connector(host: host, port: port, options)).revoke(client)
    }
}

struct ServiceAdministration: Sendable {
    let connector: Connector

    func openPairing(
        for duration: Duration, role: Role, _ kind: PairingSecret.Kind
    ) async throws(ElementalError) -> OpenedPairing {
        let seconds = UInt16(clamping: max(duration, .seconds(1)).components.seconds)
        return try await request(.openWindow(seconds: seconds, role, kind)) { outcome in
            if case .windowOpened(let window) = outcome { window } else { nil }
        }.run()
    }

    func revoke(_ client: Fingerprint) async throws(ElementalError) -> RemoteRevocation {
        try await request(.revoke(client)) { outcome in
            if case .revoked(let revocation) = outcome { revocation } else { nil }
        }.run()
    }

    private func request<Answer>(
        _ purpose: ClientAdmission.Purpose, _ answer: @escaping @Sendable (ClientGateHandler.Outcome) -> Answer?
    ) -> AdmissionRequest<Answer> {
        let target = connector.target(connector.endpoint, connector.announcement)
        return AdmissionRequest(connector: connector) { keys in
            // Only a service whose key is known is asked: another one could pretend to be it and be paired with in its
            // place.
            let security = try ClientSecurity.required(identity: keys.identity, store: keys.store).decide(
                target, announced: connector.announcement.policy, proven: nil, name: connector.peerName)
            guard case .encrypted(let expected) = security else { throw ElementalError.notPaired(connector.peerName) }
            let own = keys.identity.fingerprint
            return AdmissionRequest.Work(
                identity: expected.identity, accepts: { expected.accepts($0) },
                makeAdmission: { key in
                    ClientAdmission(purpose, service: target.service, name: connector.ownName, own: own, peer: key)
                },
                answer: { outcome, _ in answer(outcome) },
                explain: { connector.explain($0, connector.endpoint, expected) })
        }
    }
}
