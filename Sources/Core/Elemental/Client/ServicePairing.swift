public import ElementalSecurity
public import ElementalWire
import NIOCore
import Support

extension DiscoveredService {
    /// Pairs this client with the service: each stores the other's key. Afterwards `connect` is encrypted.
    ///
    /// ```swift
    /// try await service.pair(as: "Rob's iPhone", options: options) { _ in PairingSecret(code: readLine() ?? "") }
    /// ```
    /// The service counts wrong codes and closes its window after five. Do not retry with the same code.
    ///
    /// Cancelling the task stops the pairing, and nothing is stored here, unless storing has already begun.
    /// - Parameters:
    ///   - name: this client's name, under which the service lists it; not empty.
    ///   - role: the role that the client requests. The service grants this or the role that it offers, whichever is
    ///     lower.
    ///   - options: with the client's identity and store in ``ConnectOptions/security``.
    ///   - enter: returns the code or secret that the service shows; `nil` to give up. The client is not connected
    ///     while it runs.
    /// - Throws: ``ElementalError/Code/wrongCode``, ``ElementalError/Code/pairingClosed``,
    ///   ``ElementalError/Code/identityChanged`` if the service is paired with another key,
    ///   ``ElementalError/Code/connectionFailed``, ``ElementalError/Code/hostNotFound``,
    ///   ``ElementalError/Code/timedOut``, ``ElementalError/Code/cancelled``, ``ElementalError/Code/invalidState``
    ///   without an identity, or if the service has the same one.
    @discardableResult
    public func pair(
        as name: String, role: Role = .control, options: ConnectOptions,
        isolation: isolated (any Actor)? = #isolation, _ enter: (PairingRequest) async -> PairingSecret?
    ) async throws(ElementalError) -> TrustedService {
        try await ServicePlace.found(self).pair(as: name, role: role, options: options, enter)
    }
}

extension ServicePlace {
    package func pair(
        as name: String, role: Role = .control, options: ConnectOptions,
        isolation: isolated (any Actor)? = #isolation, _ enter: (PairingRequest) async -> PairingSecret?
    ) async throws(ElementalError) -> TrustedService {
        let connector = Connector(place: self, ownName: name, options: options)
        let asking = try await connector.pair(nil, role)
        guard case .asked(let offer) = asking.outcome else { throw connector.unexpectedAnswer }
        let request = PairingRequest(
            kind: offer.kind, service: offer.service, timeLeft: .seconds(Int(offer.seconds)))
        guard let secret = await enter(request) else { throw .connectingCancelled }
        let (outcome, address) = try await connector.pair(secret, role)
        guard case .authorised(let service) = outcome else { throw connector.unexpectedAnswer }
        return connector.trusted(service.fingerprint, service.service, service.role, at: address)
    }
}

/// What the user has to enter to pair with a service.
public struct PairingRequest: Sendable {
    /// Six digits, or a long secret.
    public let kind: PairingSecret.Kind
    /// The service's name as it announces it, such as `robot`.
    public let service: String
    /// How long the pairing window stays open, unless the service closes it earlier.
    public let timeLeft: Duration
}

extension Connector {
    private static let maximumHostCount = 8

    /// - Parameter secret: `nil` to ask which kind of secret has to be entered.
    fileprivate func pair(
        _ secret: PairingSecret?, _ role: Role
    ) async throws(ElementalError) -> AdmissionRequest.Answer {
        try await ask { keys in
            // A host and port stand for one service, as a name does.
            let pinned = try keys.store.read().services.first {
                $0.instance.isSameName(as: peerName) && (service == nil || $0.isService(service)) && !$0.isPending
            }
            let own = keys.identity.fingerprint
            return AdmissionRequest(
                identity: try TLSIdentity(keys.identity), purpose: .pair(secret, role), pinned: pinned?.fingerprint,
                // The pairing code authenticates the peer.
                accepts: { _ in true },
                store: { paired, step, address in
                    var service = trusted(paired.fingerprint, paired.service, paired.role, at: address)
                    service.isPending = step == .pending
                    try keys.store.update { [service] peers in
                        if step == .withdrawn { peers.withdraw(service) } else { try peers.pin(service, own: own) }
                    }
                },
                explain: { failure in
                    let what = "cannot pair with '\(peerName)'"
                    guard case .refused(.ownIdentity) = failure else { return explain(failure, what) }
                    return ElementalError(.invalidState, "\(what): \(AdmissionRefusal.ownIdentity.sentence)")
                })
        }
    }

    fileprivate func trusted(
        _ fingerprint: Fingerprint, _ name: String, _ role: Role, at address: SocketAddress?
    ) -> TrustedService {
        let target = target()
        var hosts = target.hosts
        if let address, !hosts.contains(address.hostText) { hosts.append(address.hostText) }
        return TrustedService(
            fingerprint: fingerprint, service: service ?? name, instance: peerName,
            hosts: hosts.prefix(Self.maximumHostCount).map { TrustedService.Host($0, port: target.port) }, role: role)
    }
}
