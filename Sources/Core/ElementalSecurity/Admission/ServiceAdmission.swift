import ElementalWire
import Support

/// Decides on one client's connection before its session begins: admits it, pairs with it, or carries out an admin's
/// command. A state machine without sockets, clocks and files: it receives bytes and times and returns actions.
///
/// The driver has a TLS connection whose peer has proved its key. It passes on the received bytes until an action is
/// ``Action/authorised(_:)`` or ``Action/close``, calls ``update(_:at:)`` at ``deadline``, and ``disconnected(_:)`` if
/// the connection is lost before. All connections of the service share its pairing window.
package struct ServiceAdmission: Sendable, Undisclosed {
    /// An action for the driver, to be performed in this order. Undisclosed, because the bytes of some actions contain
    /// a code.
    package enum Action: Sendable, Equatable, Undisclosed {
        /// Send these bytes.
        case send([UInt8])
        /// Store the client, then call ``stored(_:)``.
        case store(PairedClient)
        /// Remove the first client from the store, then call ``revoked(_:)``. The second client sent the command.
        case revoke(Fingerprint, by: Fingerprint)
        /// The pairing window was opened or closed.
        case windowChanged
        /// Begin the session.
        case authorised(AuthorisedClient)
        /// Either end has refused. This is for the log: a message to the client is a separate action.
        case refused(AdmissionRefusal)
        /// Close the connection, once all bytes are sent.
        case close
    }

    private enum State {
        case opening
        /// Has offered pairing in the service's window of this number.
        case offered(PairingOffer, opening: Int)
        /// Waits for the client's tag.
        case answered(PairingWindow.Attempt, expectedTag: [UInt8], PairedClient)
        /// Waits for the store.
        case storing(PairedClient)
        /// Waits for the store.
        case revoking
        case done
    }

    private let service: String
    private let own: Fingerprint
    private let peer: Fingerprint
    private let isLoopback: Bool
    private let storedRole: @Sendable (Fingerprint) throws(AdmissionRefusal) -> Role?
    private let random: @Sendable (Int) -> [UInt8]
    private var reader = AdmissionReader()
    private var state = State.opening

    /// - Parameters:
    ///   - service: the name of the service, such as `robot`.
    ///   - own: the service's own fingerprint.
    ///   - peer: the client's fingerprint, which TLS has proved.
    ///   - isLoopback: whether the connection comes from this host.
    ///   - storedRole: returns the role that a fingerprint has for this service; called when the client requests a
    ///     role. Throws if the trusted clients cannot be read: then no client is admitted, not even one with the
    ///     service's own key.
    ///   - random: returns this many random bytes; only tests pass it.
    package init(
        service: String, own: Fingerprint, peer: Fingerprint, isLoopback: Bool,
        storedRole: @escaping @Sendable (Fingerprint) throws(AdmissionRefusal) -> Role?,
        random: @escaping @Sendable (Int) -> [UInt8] = Primitives.randomBytes
    ) {
        self.service = ComparableName(service).text
        self.own = own
        self.peer = peer
        self.isLoopback = isLoopback
        self.storedRole = storedRole
        self.random = random
    }

    /// Whether the decision has been made: bytes that arrive now are not for this machine.
    package var isDone: Bool { if case .done = state { true } else { false } }

    /// The time to call ``update(_:at:)``, if nothing happens before.
    package var deadline: ContinuousClock.Instant? {
        if case .answered(let attempt, _, _) = state { attempt.deadline } else { nil }
    }

    /// Handles received bytes.
    package mutating func receive(
        _ bytes: UnsafeRawBufferPointer, _ window: inout PairingWindow, at now: ContinuousClock.Instant
    ) -> [Action] {
        guard !isDone else { return [] }
        reader.append(bytes)
        return reportingWindowChange(&window, at: now) { machine, window in
            var actions: [Action] = []
            do throws(AdmissionRefusal) {
                while !machine.isWaiting, let message = try machine.reader.next() {
                    actions += try machine.receive(message, &window, at: now)
                }
                if machine.isWaiting { try machine.reader.checkByteCount() }
            } catch {
                actions += machine.refuse(error, &window)
            }
            return actions
        }
    }

    /// Ends an attempt that takes too long.
    package mutating func update(_ window: inout PairingWindow, at now: ContinuousClock.Instant) -> [Action] {
        reportingWindowChange(&window, at: now) { machine, window in
            guard let deadline = machine.deadline, now >= deadline else { return [] }
            return machine.refuse(.timedOut, &window)
        }
    }

    /// Ends the attempt because the connection is lost.
    package mutating func disconnected(
        _ window: inout PairingWindow, at now: ContinuousClock.Instant
    ) -> [Action] {
        reportingWindowChange(&window, at: now) { machine, window in
            machine.end(&window)
            return []
        }
    }

    /// Continues after ``Action/store(_:)``. If the store could not be written, the client receives the reason.
    package mutating func stored(_ result: Result<Void, AdmissionRefusal>) -> [Action] {
        guard case .storing(let client) = state else { return [] }
        state = .done
        switch result {
        case .success: return admit(name: client.name, role: client.role)
        case .failure(let refusal): return [.send(AdmissionMessage.refused(refusal).frame), .refused(refusal), .close]
        }
    }

    /// Continues after ``Action/revoke(_:by:)``. A success has the number of clients that the revoked one had paired,
    /// and the first of them.
    package mutating func revoked(
        _ result: Result<(pairedCount: Int, paired: [PairedName]), AdmissionRefusal>
    ) -> [Action] {
        guard case .revoking = state else { return [] }
        state = .done
        switch result {
        case .success(let result):
            let answer = AdmissionMessage.revoked(pairedCount: UInt16(clamping: result.pairedCount), result.paired)
            return [.send(answer.frame), .close]
        case .failure(let refusal): return [.send(AdmissionMessage.refused(refusal).frame), .refused(refusal), .close]
        }
    }

    // MARK: - Messages

    private mutating func receive(
        _ message: AdmissionMessage, _ window: inout PairingWindow, at now: ContinuousClock.Instant
    ) throws(AdmissionRefusal) -> [Action] {
        switch (message, state) {
        case (.connect(let service, let role, let name), .opening):
            try check(service)
            let granted = try grantedRole(wanted: role)
            state = .done
            return admit(name: name, role: granted)
        case (.pair(let service), .opening):
            try check(service)
            _ = try storedRole(peer)
            return [.send(AdmissionMessage.offer(try offer(&window, at: now)).frame)]
        case (.initiation(let initiation), .offered(let offer, let opening)):
            return [.send(try answer(initiation, offer, opening, &window, at: now).frame)]
        case (.confirmation(let tag), .answered(let attempt, let expectedTag, let client)):
            guard Primitives.isEqual(tag, expectedTag) else { throw .wrongCode }
            guard window.succeed(attempt, at: now) else { throw now < attempt.deadline ? .pairingClosed : .timedOut }
            state = .storing(client)
            return [.store(client)]
        case (.openWindow(let service, let seconds, let role, let kind), .opening):
            try check(service)
            try checkAdmin()
            return open(&window, seconds, role, kind, at: now)
        case (.revoke(let service, let fingerprint), .opening):
            try check(service)
            try checkAdmin()
            state = .revoking
            return [.revoke(fingerprint, by: peer)]
        case (.refused(let refusal), _):
            end(&window)
            return [.refused(refusal), .close]
        default:
            throw .malformed
        }
    }

    private func check(_ wanted: String?) throws(AdmissionRefusal) {
        guard let wanted, !wanted.isSameName(as: service) else { return }
        throw AdmissionRefusal(.wrongService, "this is the service \(service), not \(wanted)")
    }

    /// The lesser of the client's own role and the requested one.
    private func grantedRole(wanted: Role) throws(AdmissionRefusal) -> Role {
        let stored = try storedRole(peer)
        if Primitives.isEqual(peer.bytes, own.bytes) {
            return min(wanted, isLoopback ? .admin : .control)
        }
        guard let role = stored, role >= .observe else {
            throw AdmissionRefusal(
                .notPaired,
                "this device is not paired with the service: pair it first (elemental pair)")
        }
        return min(wanted, role)
    }

    private func checkAdmin() throws(AdmissionRefusal) {
        guard try grantedRole(wanted: .admin) == .admin else {
            throw AdmissionRefusal(.notAuthorised, "only an admin may do that: do it on the service's own host")
        }
    }

    private mutating func admit(name: String, role: Role) -> [Action] {
        let remainder = reader.takeRemainder()
        return [
            .send(AdmissionMessage.granted(service: service, role: role).frame),
            .authorised(AuthorisedClient(fingerprint: peer, name: name, role: role, remainder: remainder)),
        ]
    }

    // MARK: - Pairing

    private mutating func offer(
        _ window: inout PairingWindow, at now: ContinuousClock.Instant
    ) throws(AdmissionRefusal) -> PairingOffer {
        guard !Primitives.isEqual(peer.bytes, own.bytes) else { throw .ownIdentity }
        guard let (opening, kind, deadline) = window.state else { throw .pairingClosed }
        let offer = PairingOffer(
            kind: kind, seconds: UInt16(clamping: max(deadline - now, .zero).components.seconds), service: service,
            nonce: random(PairingExchange.nonceByteCount))
        state = .offered(offer, opening: opening)
        return offer
    }

    private mutating func answer(
        _ initiation: PairingInitiation, _ offer: PairingOffer, _ opening: Int, _ window: inout PairingWindow,
        at now: ContinuousClock.Instant
    ) throws(AdmissionRefusal) -> AdmissionMessage {
        // The client's code belongs to the window that was offered, not to a later one.
        guard window.state?.number == opening else { throw .pairingClosed }
        let attempt = try window.begin(at: now)
        let exchange = PairingExchange(
            client: peer, service: own, serviceName: service, kind: attempt.secret.kind, serviceNonce: offer.nonce,
            clientNonce: initiation.nonce)
        let role = min(attempt.role, initiation.role)
        let cpace = exchange.cpace(
            attempt.secret, associatedData: PairingExchange.serviceData(role: role, name: service), scalar: random(32))
        let response = cpace.message
        let client = CPace.Message(
            point: initiation.point,
            associatedData: PairingExchange.clientData(role: initiation.role, name: initiation.name))
        guard !Primitives.isEqual(response.point, client.point), let key = cpace.key(responderTo: client) else {
            // Nothing was revealed, so the attempt does not count.
            window.withdraw(attempt)
            throw .malformed
        }
        let tags = exchange.tags(key: key, client: client, service: response)
        state = .answered(
            attempt, expectedTag: tags.client,
            PairedClient(
                fingerprint: peer, name: initiation.name, role: role, service: service, pairedBy: attempt.openedBy))
        return .response(PairingResponse(point: response.point, role: role, tag: tags.service))
    }

    // MARK: - Admin's commands

    private mutating func open(
        _ window: inout PairingWindow, _ seconds: UInt16, _ role: Role, _ kind: PairingSecret.Kind,
        at now: ContinuousClock.Instant
    ) -> [Action] {
        // Only clients on the service's own host can make admins.
        let role = isLoopback ? role : min(role, .control)
        let isOwn = Primitives.isEqual(peer.bytes, own.bytes)
        let secret = window.open(
            kind, for: .seconds(Int(seconds)), role: role, openedBy: isOwn ? nil : peer, at: now, random: random)
        let left = window.state.map { ($0.deadline - now).components.seconds } ?? 0
        state = .done
        let answer = AdmissionMessage.windowOpened(seconds: UInt16(clamping: left), role: role, secret: secret)
        return [.send(answer.frame), .close]
    }

    // MARK: - Endings

    /// Whether the next message has to wait for the store, or is not for this machine.
    private var isWaiting: Bool {
        switch state {
        case .storing, .revoking, .done: true
        case .opening, .offered, .answered: false
        }
    }

    private mutating func refuse(_ refusal: AdmissionRefusal, _ window: inout PairingWindow) -> [Action] {
        end(&window)
        return [.send(AdmissionMessage.refused(refusal).frame), .refused(refusal), .close]
    }

    private mutating func end(_ window: inout PairingWindow) {
        if case .answered(let attempt, _, _) = state { window.end(attempt) }
        state = .done
    }

    /// Runs `body` and adds ``Action/windowChanged`` if `body` or the time has opened or closed the window.
    private mutating func reportingWindowChange(
        _ window: inout PairingWindow, at now: ContinuousClock.Instant,
        _ body: (inout Self, inout PairingWindow) -> [Action]
    ) -> [Action] {
        let before = window.state?.number
        window.update(at: now)
        let actions = body(&self, &window)
        return window.state?.number == before ? actions : actions + [.windowChanged]
    }
}
