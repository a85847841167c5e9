import ElementalSecurity
import ElementalWire
import NIOCore

extension ServiceServer: ServiceGateOwner {
    func begin(_ channel: any Channel, for client: AuthorisedClient?) throws {
        var protection: DatagramProtection?
        if let client, let gate {
            protection = DatagramProtection(isService: true, own: gate.tls.fingerprint, peer: client.fingerprint)
        }
        let session = try accept(
            channel, role: client?.role ?? .plain, fingerprint: client?.fingerprint, datagramProtection: protection)
        // The channel is already active, so the session gets no event of it.
        session.start()
    }

    var admitsPlainClients: Bool { service.policy.admits(.plain) }

    func gateReported(_ event: PairingEvent) { service.events.emit(.pairing(event)) }

    func trustChanged(_ change: TrustWatch.Change) {
        switch change {
        case .unavailable(let error):
            enforceTrust(AdmissionRefusal.trustUnavailable.sentence)
            let text = "'\(service.name)' trusts no clients until its trust store can be read: \(error)"
            service.events.emit(.trustUnavailable(ElementalError(.notPaired, text)))
        case .trust(let wasAvailable):
            enforceTrust("this client is no longer paired")
            if !wasAvailable { service.events.emit(.trustAvailable) }
        case .identityLost(let error):
            let text = "'\(service.name)' stops, because its identity is no longer valid: \(error)"
            service.events.emit(.failed(ElementalError(.identityChanged, text)))
        }
    }

    /// Ends the sessions of clients whose role has become lower than when they were admitted.
    private func enforceTrust(_ reason: String) {
        guard let gate else { return }
        for session in sessions.values {
            guard let client = session.device.fingerprint, let granted = session.device.grantedRole else { continue }
            let role = gate.trust.role(of: client)
            if let role, role >= granted { continue }
            shutDown(session, role == nil ? reason : "this client's role has changed; connect again")
        }
    }
}
