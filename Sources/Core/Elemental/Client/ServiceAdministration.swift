import ElementalSecurity
import ElementalWire

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
