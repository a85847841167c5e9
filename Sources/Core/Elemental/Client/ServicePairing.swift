import ElementalSecurity
import ElementalWire
import NIOCore
import NIOPosix
import Support

/// Pairs a client with a service.
struct ServicePairing: Sendable {
    let connector: Connector
    let role: Role

    /// What one connection leads to.
    private enum Step: Sendable {
        case asked(PairingOffer)
        case paired(TrustedService)
    }

    /// Identity and trusted services, read from where they are kept.
    private struct Loaded: Sendable {
        let identity: TLSIdentity
        let store: any TrustStore
        let pinned: Fingerprint?
    }

    /// - Parameter enter: asks the person. The client is not connected meanwhile, so that the service has its place for
    ///   others.
    func run(
        isolation: isolated (any Actor)? = #isolation, _ enter: (PairingRequest) async -> PairingSecret?
    ) async throws(ElementalError) -> TrustedService {
        guard case .asked(let offer) = try await connect(with: nil) else { throw unexpected }
        let request = PairingRequest(
            kind: offer.kind, service: offer.service, timeLeft: .seconds(Int(offer.seconds)))
        guard let secret = await enter(request) else { throw .connectingCancelled }
        guard case .paired(let service) = try await connect(with: secret) else { throw unexpected }
        return service
    }

    private var unexpected: ElementalError {
        ElementalError(.connectionFailed, "'\(connector.peerName)' does not pair as expected")
    }

    private func connect(with secret: PairingSecret?) async throws(ElementalError) -> Step {
        guard let keys = connector.options.security.keys else {
            throw ElementalError(
                .invalidState, "a client needs an identity to pair: set ConnectOptions.security to one that has it")
        }
        let eventLoop = connector.options.eventLoopGroup.next()
        let target = connector.target(connector.endpoint, connector.announcement)
        do {
            let loaded = try await NIOThreadPool.singleton.runIfActive {
                let pinned = try keys.store.read().services.first {
                    $0.service == target.service && $0.instance == target.instance
                }
                return Loaded(
                    identity: try TLSIdentity(keys.identity), store: keys.store, pinned: pinned?.fingerprint)
            }
            return try await eventLoop.flatSubmit { dial(target, loaded, secret, on: eventLoop) }.get()
        } catch let error as ElementalError {
            throw error
        } catch let failure as ClientGateHandler.Failure {
            throw explain(failure)
        } catch {
            throw connector.explain(error, connector.endpoint)
        }
    }

    private func dial(
        _ target: ConnectionTarget, _ loaded: Loaded, _ secret: PairingSecret?, on eventLoop: any EventLoop
    ) -> EventLoopFuture<Step> {
        let promise = eventLoop.makePromise(of: Step.self)
        connector.options.network
            .connect(to: connector.endpoint, named: connector.peerName, connector.options, on: eventLoop)
            .assumeIsolated()
            .whenComplete { result in
                do {
                    try begin(on: result.get(), target, loaded, secret, promise)
                } catch {
                    promise.fail(error)
                }
            }
        return promise.futureResult
    }

    private func begin(
        on channel: any Channel, _ target: ConnectionTarget, _ loaded: Loaded, _ secret: PairingSecret?,
        _ promise: EventLoopPromise<Step>
    ) throws {
        let eventLoop = channel.eventLoop
        var stored: TrustedService?
        let plan = ClientGateHandler.Plan(
            // Who it is, the code tells.
            accepts: { _ in true },
            makeAdmission: { key in
                ClientAdmission(
                    .pair(secret, role), service: target.service, name: connector.ownName,
                    own: loaded.identity.fingerprint, peer: key, pinned: loaded.pinned)
            },
            store: { paired in
                let service = trusted(paired, target, at: channel.remoteAddress)
                stored = service
                let own = loaded.identity.fingerprint
                return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [store = loaded.store] in
                    try store.update { try $0.pin(service, own: own) }
                }
            },
            timeout: TimeAmount(connector.options.timeout))
        try ClientGateHandler.begin(on: channel, as: loaded.identity, plan) { result in
            switch result {
            case .success(.asked(let offer)):
                promise.succeed(.asked(offer))
            case .success(.authorised):
                if let stored { promise.succeed(.paired(stored)) } else { promise.fail(unexpected) }
                channel.close(promise: nil)
            case .failure(let failure):
                promise.fail(failure)
            }
        }
    }

    private func trusted(
        _ paired: PairedService, _ target: ConnectionTarget, at address: SocketAddress?
    ) -> TrustedService {
        var hosts = target.hosts
        if let address, !hosts.contains(address.hostText) { hosts.append(address.hostText) }
        return TrustedService(
            fingerprint: paired.fingerprint, service: target.service ?? paired.service,
            instance: target.instance ?? connector.peerName,
            hosts: hosts.prefix(Self.maximumHostCount).map { TrustedService.Host($0, port: target.port) },
            role: paired.role)
    }

    /// A host has a few addresses; more than this is not worth remembering.
    private static let maximumHostCount = 8

    private func explain(_ failure: ClientGateHandler.Failure) -> ElementalError {
        let what = "cannot pair with '\(connector.peerName)'"
        switch failure {
        case .refused(let refusal): return ElementalError(refusal, what)
        case .timedOut: return ElementalError(.timedOut, "\(what): it did not answer in time")
        case .otherKey, .notEncrypted:
            return ElementalError(
                .connectionFailed, "\(what): it does not offer encrypted connections; is it open, or an older program?")
        case .closed: return ElementalError(.connectionFailed, "\(what): it ended the connection")
        }
    }
}
