import ElementalWire
import Support

/// A client's part before its session begins: requests admission, pairs, or sends an admin's command. A state machine
/// without sockets, clocks and files: it receives bytes and returns actions.
///
/// The driver has a TLS connection whose peer has proved its key. That key is pinned, unless this is a pairing. The
/// driver performs ``start()``, passes on the received bytes until an action is ``Action/authorised(_:)`` or
/// ``Action/close``, and limits the time of the whole exchange.
package struct ClientAdmission: Sendable, Undisclosed {
    package enum Purpose: Sendable, Equatable {
        /// Requests a session, in this role at most.
        case connect(Role)
        /// Requests pairing, for this role at most. Without a secret the service only reports the kind of secret to
        /// enter: the client then disconnects, and comes back with the secret.
        case pair(PairingSecret?, Role)
        /// Requests a pairing window.
        case openWindow(seconds: UInt16, Role, PairingSecret.Kind)
        /// Revokes a client's access.
        case revoke(Fingerprint)

        /// The same with a role that can be granted. ``Role/plain`` cannot.
        fileprivate var grantable: Purpose {
            switch self {
            case .connect(let role): .connect(max(role, .observe))
            case .pair(let secret, let role): .pair(secret, max(role, .observe))
            case .openWindow(let seconds, let role, let kind): .openWindow(seconds: seconds, max(role, .observe), kind)
            case .revoke: self
            }
        }
    }

    /// An action for the driver, to be performed in this order. Undisclosed, because the bytes of some actions contain
    /// the proofs of pairing.
    package enum Action: Sendable, Equatable, Undisclosed {
        /// Send these bytes.
        case send([UInt8])
        /// The service asks for this kind of secret: prompt the user, then pair on a new connection.
        case asked(PairingOffer)
        /// Store the service, then call ``stored(_:)``. A pending service is not trusted: the service has yet to
        /// confirm that it has stored this client.
        case store(PairedService, isPending: Bool)
        /// Remove the pending service from the store, then fail and close: the service has not stored this client.
        case withdraw(PairedService, AdmissionRefusal)
        /// Begin the session.
        case authorised(AuthorisingService)
        /// The window is open; show the secret to the user.
        case windowOpened(seconds: UInt16, Role, PairingSecret)
        /// The client was revoked. `pairedCount` clients were paired in windows that it opened; the names are the first
        /// of them.
        case revoked(pairedCount: Int, [PairedName])
        /// The exchange failed, for a reason of either end.
        case failed(AdmissionRefusal)
        /// Close the connection, once all bytes are sent.
        case close
    }

    private enum State {
        case asked
        /// Waits for the service's half of CPace.
        case initiated(PairingExchange, CPace, PairingInitiation)
        /// Waits for the store before it sends its tag.
        case storing(PairedService, tag: [UInt8])
        /// Waits for the service to store this client.
        case confirmed(PairedService)
        /// Waits for the store before the session begins.
        case completing(PairedService)
        case done
    }

    private let purpose: Purpose
    private let service: String?
    private let name: String
    private let own: Fingerprint
    private let peer: Fingerprint
    private let pinned: Fingerprint?
    private let random: @Sendable (Int) -> [UInt8]
    private var reader = AdmissionReader()
    private var state = State.asked

    /// - Parameters:
    ///   - service: the name of the wanted service, such as `robot`; `nil` only if the user gave just a host and port.
    ///     In that case check ``AuthorisingService/service`` against the pins.
    ///   - name: the client's own name, truncated to 64 bytes.
    ///   - own: the client's fingerprint.
    ///   - peer: the service's fingerprint, which TLS has proved.
    ///   - pinned: for a pairing, the fingerprint that the wanted service and instance already have in the store.
    ///   - random: returns this many random bytes; only tests pass it.
    package init(
        _ purpose: Purpose, service: String?, name: String, own: Fingerprint, peer: Fingerprint,
        pinned: Fingerprint? = nil, random: @escaping @Sendable (Int) -> [UInt8] = Primitives.randomBytes
    ) {
        self.purpose = purpose.grantable
        self.service = service.map { ComparableName($0).text }
        let name = AdmissionText.fitting(name, byteCount: AdmissionText.maximumNameByteCount)
        self.name = name.isEmpty ? own.short : name
        self.own = own
        self.peer = peer
        self.pinned = pinned
        self.random = random
    }

    /// Whether the exchange is over: bytes that arrive now are not for this machine.
    package var isDone: Bool { if case .done = state { true } else { false } }

    /// Whether the service has stored this client and only this end's store is missing. The loss of the connection no
    /// longer matters.
    package var isCompleting: Bool { if case .completing = state { true } else { false } }

    /// Sends the client's request.
    package mutating func start() -> [Action] {
        if let service, !AdmissionText.isService(service) {
            return end(AdmissionRefusal(.wrongService, AuthorisingService.nameRule))
        }
        let message: AdmissionMessage
        switch purpose {
        case .connect(let role): message = .connect(service: service, role: role, name: name)
        case .pair:
            if let refusal = pairingRefusal { return end(refusal) }
            message = .pair(service: service)
        case .openWindow(let seconds, let role, let kind):
            message = .openWindow(service: service, seconds: seconds, role: role, kind: kind)
        case .revoke(let fingerprint): message = .revoke(service: service, fingerprint)
        }
        return [.send(message.frame)]
    }

    /// Handles received bytes.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) -> [Action] {
        guard !isDone else { return [] }
        reader.append(bytes)
        var actions: [Action] = []
        do throws(AdmissionRefusal) {
            while !isWaiting, let message = try reader.next() { actions += try receive(message) }
            if isWaiting, !isDone { try reader.checkByteCount() }
        } catch {
            actions += refuse(error)
        }
        return actions
    }

    /// Continues after ``Action/store(_:isPending:)``. If the store could not be written, the pairing fails.
    package mutating func stored(_ result: Result<Void, AdmissionRefusal>) -> [Action] {
        switch (state, result) {
        case (.storing, .failure(let refusal)): return refuse(refusal)
        // The service has stored this client, and its session has begun: send no refusal.
        case (.completing, .failure(let refusal)): return end(refusal)
        case (.completing(let service), .success): return admitted(service.service, service.role)
        case (.storing(let service, let tag), .success):
            state = .confirmed(service)
            // Handles bytes that arrived meanwhile, at most a refusal.
            return [.send(AdmissionMessage.confirmation(tag: tag).frame)]
                + receive(UnsafeRawBufferPointer(start: nil, count: 0))
        case (.asked, _), (.initiated, _), (.confirmed, _), (.done, _): return []
        }
    }

    // MARK: - Messages

    private mutating func receive(_ message: AdmissionMessage) throws(AdmissionRefusal) -> [Action] {
        switch (message, state, purpose) {
        case (.refused(let refusal), .confirmed(let service), _):
            state = .done
            return [.withdraw(service, refusal)]
        case (.refused(let refusal), _, _):
            return end(refusal)
        case (.granted(let service, let role), .asked, .connect(let wanted)):
            try check(service)
            guard role <= wanted else { throw .malformed }
            return admitted(service, role)
        case (.offer(let offer), .asked, .pair(let secret, let role)):
            try check(offer.service)
            return try initiate(offer, secret, role)
        case (.response(let response), .initiated(let exchange, let cpace, let initiation), _):
            return try confirm(response, exchange, cpace, initiation)
        case (.granted(let service, let role), .confirmed(let paired), _):
            guard service.isSameName(as: paired.service), role == paired.role else { throw .malformed }
            state = .completing(paired)
            return [.store(paired, isPending: false)]
        case (.windowOpened(let seconds, let role, let secret), .asked, .openWindow(_, let wanted, let kind)):
            guard role <= wanted, secret.kind == kind else { throw .malformed }
            state = .done
            return [.windowOpened(seconds: seconds, role, secret), .close]
        case (.revoked(let pairedCount, let names), .asked, .revoke):
            state = .done
            return [.revoked(pairedCount: Int(pairedCount), names), .close]
        default:
            throw .malformed
        }
    }

    private func check(_ offered: String) throws(AdmissionRefusal) {
        guard let service, !service.isSameName(as: offered) else { return }
        throw AdmissionRefusal(.wrongService, "this is the service \(offered), not \(service)")
    }

    private mutating func admitted(_ service: String, _ role: Role) -> [Action] {
        state = .done
        return [
            .authorised(
                AuthorisingService(
                    fingerprint: peer, service: service, role: role, remainder: reader.takeRemainder()))
        ]
    }

    // MARK: - Pairing

    /// The reason why the client cannot pair with this peer, whatever the code.
    private var pairingRefusal: AdmissionRefusal? {
        if Primitives.isEqual(peer.bytes, own.bytes) { return .ownIdentity }
        // Pairing again with the same key repairs a pairing that only this end has stored.
        guard let pinned, !Primitives.isEqual(pinned.bytes, peer.bytes) else { return nil }
        return AdmissionRefusal(
            .alreadyPaired,
            "this device knows a service of that name with another key: if the new key is right, revoke the old one "
                + "(elemental trust revoke)")
    }

    private mutating func initiate(
        _ offer: PairingOffer, _ secret: PairingSecret?, _ role: Role
    ) throws(AdmissionRefusal) -> [Action] {
        guard let secret else {
            state = .done
            return [.asked(offer), .close]
        }
        guard secret.kind == offer.kind else {
            let wanted = offer.kind == .code ? "a code of six digits" : "its long secret"
            throw AdmissionRefusal(.wrongCode, "the service wants \(wanted); enter that")
        }
        let exchange = PairingExchange(
            client: own, service: peer, serviceName: offer.service, kind: offer.kind, serviceNonce: offer.nonce,
            clientNonce: random(PairingExchange.nonceByteCount))
        let cpace = exchange.cpace(
            secret, associatedData: PairingExchange.clientData(role: role, name: name), scalar: random(32))
        let initiation = PairingInitiation(
            nonce: exchange.clientNonce, point: cpace.message.point, role: role, name: name)
        state = .initiated(exchange, cpace, initiation)
        return [.send(AdmissionMessage.initiation(initiation).frame)]
    }

    private mutating func confirm(
        _ response: PairingResponse, _ exchange: PairingExchange, _ cpace: CPace, _ initiation: PairingInitiation
    ) throws(AdmissionRefusal) -> [Action] {
        guard response.role <= initiation.role, !Primitives.isEqual(response.point, initiation.point) else {
            throw .malformed
        }
        let service = CPace.Message(
            point: response.point,
            associatedData: PairingExchange.serviceData(role: response.role, name: exchange.serviceName))
        let client = cpace.message
        guard let key = cpace.key(initiatorWith: service) else { throw .malformed }
        let tags = exchange.tags(key: key, client: client, service: service)
        guard Primitives.isEqual(tags.service, response.tag) else { throw .wrongCode }
        let paired = PairedService(fingerprint: peer, service: exchange.serviceName, role: response.role)
        state = .storing(paired, tag: tags.client)
        return [.store(paired, isPending: true)]
    }

    // MARK: - Endings

    /// Whether the next message has to wait for the store, or is not for this machine.
    private var isWaiting: Bool {
        switch state {
        case .storing, .completing, .done: true
        case .asked, .initiated, .confirmed: false
        }
    }

    /// Ends the exchange for a reason of this end's.
    private mutating func refuse(_ refusal: AdmissionRefusal) -> [Action] {
        [.send(AdmissionMessage.refused(refusal).frame)] + end(refusal)
    }

    private mutating func end(_ refusal: AdmissionRefusal) -> [Action] {
        state = .done
        return [.failed(refusal), .close]
    }
}
