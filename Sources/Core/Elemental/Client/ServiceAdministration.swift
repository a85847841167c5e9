public import ElementalSecurity
public import ElementalWire

extension DiscoveredService {
    /// Opens the service's pairing window, as an admin of it: one client may then pair with what is returned.
    ///
    /// Who has the service's own identity, another program of the same user, is an admin on its host. Others have been
    /// granted that role, and open windows for ``Role/control`` at most.
    /// - Parameters:
    ///   - duration: how long, 1 s to an hour; other values are limited to that.
    ///   - role: the most that the client gets.
    ///   - kind: six digits for a person to type, or a long secret.
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

    /// Withdraws what the service grants to a client, as an admin of it. The client's connections end within 2 s.
    ///
    /// - Parameters:
    ///   - client: the client's whole fingerprint. One that the service does not know is not an error.
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
    ///   - duration: how long, 1 s to an hour; other values are limited to that.
    ///   - role: the most that the client gets.
    ///   - kind: six digits for a person to type, or a long secret.
    ///   - options: with the admin's identity and store in ``ConnectOptions/security``.
    /// - Throws: ``ElementalError`` as ``DiscoveredService/openPairing(for:role:_:options:)`` does.
    public static func openPairing(
        host: String, port: Int, for duration: Duration = .seconds(300), role: ElementalWire.Role = .control,
        _ kind: PairingSecret.Kind = .code, options: ConnectOptions
    ) async throws(ElementalError) -> OpenedPairing {
        try await ServiceAdministration(connector: Connector(host: host, port: port, options)).openPairing(
            for: duration, role: role, kind)
    }

    /// Withdraws what a service, by host and port, grants to a client. The client's connections end within 2 s.
    ///
    /// - Parameters:
    ///   - client: the client's whole fingerprint. One that the service does not know is not an error.
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

/// A pairing window that an admin has opened.
public struct OpenedPairing: Sendable {
    /// What the client has to enter. Show it to the person there, and put it nowhere else.
    public let secret: PairingSecret
    /// How long the window stays open, unless a client pairs or fails five times before.
    public let timeLeft: Duration
    /// The most that the client gets: what was asked for or, over the network, ``Role/control``, whichever is less.
    public let role: Role
}

/// What a service did when an admin revoked a client.
public struct RemoteRevocation: Sendable, Hashable {
    /// A client by its name and fingerprint.
    public struct Client: Sendable, Hashable {
        /// The client's key.
        public let fingerprint: Fingerprint
        /// The name that the client gave itself.
        public let name: String
    }

    /// How many clients have paired in windows that the revoked one opened. They remain: somebody has to look at them.
    public let letInCount: Int
    /// The first of them.
    public let letIn: [Client]
}

/// An admin's commands to a service.
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
            // Only to a service whose key is known: whoever answered could make itself the one that is paired with.
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
