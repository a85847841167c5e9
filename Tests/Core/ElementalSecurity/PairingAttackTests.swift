import Testing

@testable import ElementalSecurity

/// What an attacker on the network tries against pairing. In each, the attacker may do everything but guess the code, and
/// has a certificate of its own.
struct PairingAttackTests {
    /// How many attempts at a code a window still allows.
    private func attemptsLeft(_ window: PairingWindow, at now: ContinuousClock.Instant) -> Int {
        var window = window
        var count = 0
        while count < 10, let attempt = try? window.begin(at: now) {
            count += 1
            window.end(attempt)
        }
        return count
    }

    /// With the right code on both sides, TLS still proves other keys to them than they have: the frames are passed on
    /// unchanged, and nobody is paired. One key in the middle is enough, on either side.
    @Test(arguments: [(true, true), (true, false), (false, true)])
    func aManInTheMiddlePairsNobody(clientSeesIt: Bool, serviceSeesIt: Bool) {
        var window = PairingWindow()
        let secret = window.open(.code, for: .seconds(300), role: .control, at: .now)
        var ends = AdmissionEnds(.pair(secret, .control), window: window)
        if clientSeesIt {
            ends.client = ClientAdmission(
                .pair(secret, .control), service: "robot", name: "Rob's iPhone", own: AdmissionEnds.clientKey,
                peer: AdmissionEnds.strangerKey)
        }
        if serviceSeesIt {
            ends.service = ServiceAdmission(
                service: "robot", own: AdmissionEnds.serviceKey, peer: AdmissionEnds.strangerKey, isLoopback: false,
                storedRole: { _ in nil })
        }
        ends.run()
        #expect(ends.failure == .wrongCode && ends.pairedClient == nil && ends.pairedService == nil)
        #expect(attemptsLeft(ends.window, at: ends.now) == 4)
    }

    /// The names of the two services are bound, too, even for one key that has both.
    @Test
    func theNameOfTheServiceIsBound() {
        var window = PairingWindow()
        let secret = window.open(.code, for: .seconds(300), role: .control, at: .now)
        var ends = AdmissionEnds(.pair(secret, .control), wanted: "lamp", window: window)
        ends.change = { origin, bytes in
            guard let message = try? message(bytes) else { return bytes }
            switch message {
            case .pair: return AdmissionMessage.pair(service: "robot").frame
            case .offer(var offer):
                offer.service = "lamp"
                return AdmissionMessage.offer(offer).frame
            default: return bytes
            }
        }
        ends.run()
        #expect(ends.failure == .wrongCode && ends.pairedClient == nil)
    }

    /// What a proxy inside TLS could change, if there were one: every field is bound.
    @Test(arguments: [
        "service's nonce", "client's nonce", "client's point", "service's point", "kind", "wanted role", "granted role",
        "client's name", "client's tag", "service's tag",
    ])
    func whatIsChangedOnTheWayPairsNobody(_ field: String) {
        var ends = AdmissionEnds.pairing(role: .control, wanted: .control)
        ends.change = { origin, bytes in
            guard var message = try? message(bytes) else { return bytes }
            switch message {
            case .offer(var offer):
                if field == "service's nonce" { offer.nonce[0] ^= 1 }
                if field == "kind" { offer.kind = .secret }
                message = .offer(offer)
            case .initiation(var initiation):
                if field == "client's nonce" { initiation.nonce[0] ^= 1 }
                if field == "client's point" { initiation.point[0] ^= 2 }
                if field == "wanted role" { initiation.role = .admin }
                if field == "client's name" { initiation.name = "Mallory" }
                message = .initiation(initiation)
            case .response(var response):
                if field == "service's point" { response.point[0] ^= 2 }
                if field == "granted role" { response.role = .observe }
                if field == "service's tag" { response.tag[31] ^= 0x80 }
                message = .response(response)
            case .confirmation(var tag):
                if field == "client's tag" { tag[31] ^= 0x80 }
                message = .confirmation(tag: tag)
            default: break
            }
            return message.frame
        }
        ends.run()
        #expect(ends.pairedClient == nil && ends.authorisedRole == nil && ends.acceptedRole == nil)
        #expect(ends.failure == .wrongCode)
        if field != "client's tag" { #expect(ends.pairedService == nil) }
    }

    /// A service cannot raise the role that the client asked for, nor change it after the client has confirmed.
    @Test
    func rolesDoNotEscalate() {
        var ends = AdmissionEnds.pairing(role: .admin, wanted: .observe)
        ends.change = { origin, bytes in
            guard case .response(var response) = try? message(bytes) else { return bytes }
            response.role = .admin
            return AdmissionMessage.response(response).frame
        }
        ends.run()
        #expect(ends.failure == .malformed && ends.pairedService == nil)

        ends = AdmissionEnds.pairing(role: .control, wanted: .control)
        ends.change = { origin, bytes in
            guard case .granted = try? message(bytes) else { return bytes }
            return AdmissionMessage.granted(service: "robot", role: .admin).frame
        }
        ends.run()
        #expect(ends.failure == .malformed && ends.acceptedRole == nil)
    }

    /// A code for observers does not make anybody more than that, whatever the client says before and after.
    @Test
    func aPairedClientIsHeldToItsRole() throws {
        var ends = AdmissionEnds.pairing(role: .observe, wanted: .admin)
        ends.run()
        let role = try #require(ends.pairedClient?.role)
        var later = AdmissionEnds(.connect(.admin), storedRole: role)
        later.run()
        #expect(later.authorisedRole == .observe)
    }

    // MARK: - Guesses

    /// An attempt counts when the service answers: whoever leaves before the tag has tested a guess all the same.
    @Test
    func abortedGuessesCount() {
        var window = PairingWindow()
        _ = window.open(.code, for: .seconds(300), role: .control, at: .now)
        for number in 1...5 {
            var ends = AdmissionEnds.pairing(right: false, window: window)
            ends.change = { origin, bytes in origin == .service && bytes[6] == 5 ? nil : bytes }
            ends.run()
            #expect(ends.window.isOpen)
            ends.perform(ends.service.disconnected(&ends.window, at: ends.now))
            window = ends.window
            #expect(window.isOpen == (number < 5))
        }
        var ends = AdmissionEnds(.pair(nil, .control), window: window)
        ends.run()
        #expect(ends.failure == .pairingClosed)
    }

    /// The right code at the fifth try is right.
    @Test(arguments: [(4, true), (5, false)])
    func fiveWrongCodesCloseTheWindow(_ wrongCount: Int, _ isOpen: Bool) {
        var window = PairingWindow()
        let secret = window.open(.code, for: .seconds(300), role: .control, at: .now)
        for _ in 1...wrongCount {
            var ends = AdmissionEnds.pairing(right: false, window: window)
            ends.run()
            window = ends.window
        }
        #expect(window.isOpen == isOpen)
        var ends = AdmissionEnds(.pair(secret, .control), window: window)
        ends.run()
        #expect(ends.acceptedRole == (isOpen ? .control : nil) && (ends.pairedClient != nil) == isOpen)
        #expect(ends.failure == (isOpen ? nil : .pairingClosed))
    }

    /// One guess at a time, from however many connections.
    @Test
    func parallelGuessesAreRefused() throws {
        var window = PairingWindow()
        _ = window.open(.code, for: .seconds(300), role: .control, at: .now)
        var first = AdmissionEnds.pairing(window: window)
        try first.runToConfirmation()
        for _ in 1...50 {
            var other = AdmissionEnds.pairing(window: first.window)
            other.now = first.now
            other.run()
            #expect(other.failure == .pairingBusy && other.pairedClient == nil)
            #expect(!other.frames.contains { $0.bytes[6] == 5 })
            first.window = other.window
        }
        // None of them was a guess.
        first.perform(first.service.disconnected(&first.window, at: first.now))
        #expect(attemptsLeft(first.window, at: first.now) == 4)
    }

    /// Two who pair at once with the right secret: one is paired.
    @Test(arguments: PairingSecret.Kind.allCases)
    func twoAtOnceAreOne(_ kind: PairingSecret.Kind) throws {
        var first = AdmissionEnds.pairing(kind)
        let confirmation = try first.runToConfirmation()
        var second = AdmissionEnds.pairing(kind, window: first.window)
        if kind == .code {
            // It has to wait for the place, which is free after two seconds at the latest.
            second.now = first.now + .seconds(2)
        }
        second.run()
        #expect(second.acceptedRole == .control)
        first.window = second.window
        first.now = second.now
        first.toService(confirmation)
        #expect(first.pairedClient == nil && first.authorisedRole == nil)
        #expect(first.refusal == (kind == .code ? .timedOut : .pairingClosed))
    }

    /// A secret of 160 bits cannot be guessed; nobody can use up its attempts or its place.
    @Test
    func guessesAtALongSecretDoNotCloseTheWindow() {
        var window = PairingWindow()
        let secret = window.open(.secret, for: .seconds(300), role: .control, at: .now)
        for _ in 1...20 {
            var ends = AdmissionEnds.pairing(.secret, right: false, window: window)
            ends.change = { origin, bytes in origin == .service && bytes[6] == 5 ? nil : bytes }
            ends.run()
            #expect(!ends.service.isDone)
            window = ends.window
        }
        var ends = AdmissionEnds(.pair(secret, .control), window: window)
        ends.run()
        #expect(ends.acceptedRole == .control)
    }

    /// The code on the screen changes while somebody types: what was offered for the old one is no guess at the new one.
    @Test
    func aNewWindowEndsWhatTheOldOneBegan() throws {
        var ends = AdmissionEnds.pairing()
        ends.change = { origin, bytes in origin == .client && bytes[6] == 4 ? nil : bytes }
        ends.run()
        let initiation = try #require(ends.frames.last { $0.origin == .client }).bytes
        _ = ends.window.open(.code, for: .seconds(300), role: .admin, at: ends.now)
        ends.toService(initiation)
        #expect(ends.refusal == .pairingClosed)
        #expect(attemptsLeft(ends.window, at: ends.now) == 5)

        // Also later than that.
        ends = AdmissionEnds.pairing()
        var confirmation = try ends.runToConfirmation()
        _ = ends.window.open(.code, for: .seconds(300), role: .admin, at: ends.now)
        ends.toService(confirmation)
        #expect(ends.refusal == .pairingClosed && ends.pairedClient == nil)
        #expect(attemptsLeft(ends.window, at: ends.now) == 5)
        ends = AdmissionEnds.pairing()
        confirmation = try ends.runToConfirmation()
        ends.window.close()
        ends.toService(confirmation)
        #expect(ends.refusal == .pairingClosed && ends.pairedClient == nil)
    }

    // MARK: - Reflection and replay

    /// What an end said itself proves nothing to it: its own point comes back, with any tag.
    @Test
    func reflectedPointsPairNobody() {
        var ends = AdmissionEnds.pairing()
        var point: [UInt8] = []
        ends.change = { origin, bytes in
            switch try? message(bytes) {
            case .initiation(let initiation): point = initiation.point
            case .response(var response):
                response.point = point
                return AdmissionMessage.response(response).frame
            default: break
            }
            return bytes
        }
        ends.run()
        #expect(ends.failure == .malformed && ends.pairedService == nil && ends.pairedClient == nil)
    }

    /// The tags of the two ends differ even where their points do not, so that neither can be sent back.
    @Test
    func tagsAreNotInterchangeable() {
        let exchange = PairingExchange(
            client: AdmissionEnds.clientKey, service: AdmissionEnds.serviceKey, serviceName: "robot", kind: .code,
            serviceNonce: [UInt8](repeating: 1, count: 16), clientNonce: [UInt8](repeating: 2, count: 16))
        let point = [UInt8](repeating: 9, count: 32)
        // A client that calls itself as the service is called.
        let tags = exchange.tags(
            key: [UInt8](repeating: 3, count: 64),
            client: CPace.Message(
                point: point, associatedData: PairingExchange.clientData(role: .control, name: "robot")),
            service: CPace.Message(
                point: point, associatedData: PairingExchange.serviceData(role: .control, name: "robot")))
        #expect(tags.client != tags.service && tags.client.count == 32 && tags.service.count == 32)
    }

    @Test
    func theServicesTagDoesNotConfirm() {
        var ends = AdmissionEnds.pairing()
        var tag: [UInt8]?
        ends.change = { origin, bytes in
            switch try? message(bytes) {
            case .response(let response):
                tag = response.tag
                return bytes
            case .confirmation: return AdmissionMessage.confirmation(tag: tag ?? []).frame
            default: return bytes
            }
        }
        ends.run()
        #expect(ends.refusal == .wrongCode && ends.pairedClient == nil)
    }

    /// A recorded pairing, played again to either end, is worth nothing: both nonces are new.
    @Test
    func recordedPairingsAreWorthNothing() throws {
        var recorded = AdmissionEnds.pairing(.secret)
        let window = recorded.window
        recorded.run()
        #expect(recorded.acceptedRole == .control)

        var service = AdmissionEnds(.pair(nil, .control), window: window)
        service.change = { _, _ in nil }
        for (origin, bytes) in recorded.frames where origin == .client { service.toService(bytes) }
        #expect(service.refusal == .wrongCode && service.pairedClient == nil)

        var client = AdmissionEnds.pairing(.secret, window: window)
        client.change = { _, _ in nil }
        client.run()
        for (origin, bytes) in recorded.frames where origin == .service { client.toClient(bytes) }
        #expect(client.failure == .wrongCode && client.pairedService == nil)
    }

    /// Points of low order make the shared secret known to everyone: both ends stop, and nothing was guessed.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
    ])
    func pointsOfLowOrderEndThePairing(_ hex: String) {
        let point = bytes(hex)
        for isClients in [true, false] {
            var ends = AdmissionEnds.pairing()
            ends.change = { origin, bytes in
                switch try? message(bytes) {
                case .initiation(var initiation) where isClients:
                    initiation.point = point
                    return AdmissionMessage.initiation(initiation).frame
                case .response(var response) where !isClients:
                    response.point = point
                    return AdmissionMessage.response(response).frame
                default: return bytes
                }
            }
            ends.run()
            #expect(ends.failure == .malformed && ends.refusal == .malformed)
            #expect(ends.pairedClient == nil && ends.pairedService == nil)
            #expect(attemptsLeft(ends.window, at: ends.now) == (isClients ? 5 : 4))
        }
    }
}
