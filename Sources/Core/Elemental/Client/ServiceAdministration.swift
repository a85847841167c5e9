public import ElementalSecurity
public import ElementalWire

extension DiscoveredService {
    /// Opens the service's pairing window, as an admin of it: one client can then pair with the returned secret.
    ///
    /// A program with the service's own identity, which programs of the same user share, is an admin on the service's
    /// host. Other clients must have been granted that role, and can open windows for ``Role/control`` at most.
    /// - Parameters:
    ///   - duration: how long the window stays open, clamped to 1 s to an hour.
    ///   - role: the highest role that the client can get.
    ///   - kind: six digits for the user to type, or a long secret.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/notAuthorised``,
    ///   ``ElementalError/Code/notPaired``, ``ElementalError/Code/identityChanged``,
    ///   ``ElementalError/Code/connectionFailed``, ``ElementalError/Code/hostNotFound``,
    ///   ``ElementalError/Code/timedOut``, ``ElementalError/Code/invalidState`` without an identity.
    public func openPairing(
        for duration: Duration = .seconds(300), role: Role = .control, _ kind: PairingSecret.Kind = .code,
        options: ConnectOptions
    ) async throws(ElementalError) -> OpenedPairing {
        try await ServicePlace.found(self).openPairing(for: duration, role: role, kind, options: options)
    }

    /// Revokes a client's pairing with the service, as an admin of it. The client's connections end within 2 s.
    ///
    /// - Parameters:
    ///   - client: the client's whole fingerprint. An unknown client is not an error.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` as ``openPairing(for:role:_:options:)`` does.
    public func revoke(
        _ client: Fingerprint, options: ConnectOptions
    ) async throws(ElementalError) -> RemoteRevocation {
        let connector = Connector(place: .found(self), ownName: "", options: options)
        guard case .revoked(let revocation) = try await connector.administer(.revoke(client)) else {
            throw connector.unexpectedAnswer
        }
        return revocation
    }
}

extension ServicePlace {
    package func openPairing(
        for duration: Duration, role: ElementalWire.Role, _ kind: PairingSecret.Kind, options: ConnectOptions
    ) async throws(ElementalError) -> OpenedPairing {
        let seconds = UInt16(clamping: max(duration, .seconds(1)).components.seconds)
        let connector = Connector(place: self, ownName: "", options: options)
        let outcome = try await connector.administer(.openWindow(seconds: seconds, role, kind))
        guard case .windowOpened(let window) = outcome else { throw connector.unexpectedAnswer }
        return window
    }
}

extension Connector {
    fileprivate func administer(
        _ purpose: ClientAdmission.Purpose
    ) async throws(ElementalError) -> ClientGateHandler.Outcome {
        try await ask { keys in
            // The command goes only to a service whose key is known: another one could impersonate it and be paired in
            // its place.
            let security = ClientSecurity.required(identity: keys.identity, store: keys.store)
            let expected = try security.decide(
                target(), announced: place.discovered?.security, proven: nil, name: peerName)
            guard let expected else { throw ElementalError.notPaired(peerName) }
            return request(purpose, to: expected, at: place.endpoint)
        }.outcome
    }
}
