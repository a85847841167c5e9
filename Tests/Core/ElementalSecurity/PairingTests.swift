import ElementalWire
import TestSupport
import Testing

@testable import ElementalSecurity

/// Pairing as it should go, and how it ends otherwise. What attackers try is in ``PairingAttackTests``.
struct PairingTests {
    @Test(arguments: PairingSecret.Kind.allCases)
    func whoKnowsTheSecretIsPaired(_ kind: PairingSecret.Kind) {
        var ends = AdmissionEnds.pairing(kind)
        ends.run()
        #expect(
            ends.pairedClient
                == PairedClient(
                    fingerprint: AdmissionEnds.clientKey, name: "Rob's iPhone", role: .control, service: "robot",
                    pairedBy: nil))
        #expect(
            ends.pairedService
                == PairedService(fingerprint: AdmissionEnds.serviceKey, service: "robot", role: .control))
        #expect(ends.authorisedRole == .control && ends.acceptedRole == .control)
        // One success closes the window.
        #expect(!ends.window.isOpen && ends.serviceActions.contains(.windowChanged))
        #expect(ends.frames.count == 6 && ends.frames.allSatisfy { $0.bytes.count <= 1024 })
    }

    @Test(arguments: [Role.observe, .control, .admin], [Role.observe, .control, .admin])
    func theRoleIsTheLesserOfTheWindowsAndTheWanted(_ role: Role, _ wanted: Role) {
        var ends = AdmissionEnds.pairing(role: role, wanted: wanted)
        ends.run()
        let lesser = min(role, wanted)
        #expect(ends.pairedClient?.role == lesser && ends.pairedService?.role == lesser)
        #expect(ends.authorisedRole == lesser && ends.acceptedRole == lesser)
    }

    @Test(arguments: PairingSecret.Kind.allCases)
    func aWrongSecretPairsNobody(_ kind: PairingSecret.Kind) {
        var ends = AdmissionEnds.pairing(kind, right: false)
        ends.run()
        #expect(ends.failure == .wrongCode && ends.refusal == .wrongCode)
        #expect(ends.pairedClient == nil && ends.pairedService == nil)
        #expect(ends.authorisedRole == nil && ends.acceptedRole == nil)
        // The client's tag would tell a false service whether a guess was right.
        #expect(!ends.frames.contains { $0.bytes[6] == 6 })
    }

    /// The person types while nobody waits: the client comes back with the code on a new connection.
    @Test
    func theClientLeavesWhileThePersonTypes() throws {
        var ends = AdmissionEnds(.pair(nil, .control))
        let secret = ends.window.open(.code, for: .seconds(300), role: .control, at: ends.now)
        ends.run()
        let offer = try #require(
            ends.clientActions.lazy.compactMap { if case .asked(let offer) = $0 { offer } else { nil } }.first)
        #expect(offer.kind == .code && offer.seconds == 300 && offer.service == "robot")
        #expect(ends.clientActions.last == .close && ends.client.isDone)

        var later = AdmissionEnds(.pair(secret, .control), window: ends.window)
        later.now = ends.now + .seconds(200)
        later.run()
        #expect(later.acceptedRole == .control)
    }

    @Test
    func withoutAWindowThereIsNoPairing() {
        var ends = AdmissionEnds(.pair(PairingSecret(code: "000000"), .control))
        ends.run()
        #expect(ends.failure == .pairingClosed && ends.frames.count == 2)
        var late = AdmissionEnds.pairing()
        late.now += .seconds(300)
        late.run()
        #expect(late.failure == .pairingClosed && !late.window.isOpen)
        #expect(late.serviceActions.contains(.windowChanged))
    }

    @Test
    func theOtherKindOfSecretIsNotEvenTried() throws {
        var ends = AdmissionEnds(.pair(PairingSecret(generating: .secret), .control))
        _ = ends.window.open(.code, for: .seconds(300), role: .control, at: ends.now)
        ends.run()
        #expect(ends.failure == .wrongCode)
        #expect(!ends.frames.contains { $0.bytes[6] == 4 })
    }

    @Test
    func theOwnKeyNeedsNoPairing() throws {
        let key = AdmissionEnds.serviceKey
        var ends = AdmissionEnds(.pair(PairingSecret(code: "000000"), .control), clientKey: key)
        _ = ends.window.open(.code, for: .seconds(300), role: .control, at: ends.now)
        ends.run()
        #expect(ends.failure == .alreadyPaired && ends.frames.isEmpty)
        // Nor does the service offer it.
        ends = AdmissionEnds(.connect(.control), clientKey: key, window: ends.window)
        ends.toService(.pair(service: "robot"))
        #expect(ends.refusal == .alreadyPaired)
    }

    /// Another key under a pinned name is never a reason to pair; the same key repairs what one end forgot.
    @Test
    func aPinnedNameIsNotPairedWithAnotherKey() {
        var ends = AdmissionEnds(.pair(PairingSecret(code: "000000"), .control), pinned: AdmissionEnds.strangerKey)
        ends.run()
        #expect(ends.failure == .alreadyPaired && ends.frames.isEmpty)
        var window = PairingWindow()
        let secret = window.open(.code, for: .seconds(300), role: .control, at: .now)
        ends = AdmissionEnds(.pair(secret, .control), pinned: AdmissionEnds.serviceKey, window: window)
        ends.run()
        #expect(ends.acceptedRole == .control)
    }

    // MARK: - Stores

    /// The client's pin counts once the service has said that it stored the client, and not before.
    @Test
    func theClientStoresWhenTheServiceHas() throws {
        var ends = AdmissionEnds.pairing()
        try ends.runToConfirmation()
        guard case .store(let service, isPending: true)? = ends.clientActions.last(where: { $0.isStoring }) else {
            throw TestSupportError("nothing is pending: \(ends.clientActions.count)")
        }
        #expect(ends.pairedService == nil)
        ends.toClient(.granted(service: "robot", role: .control))
        #expect(ends.pairedService == service && ends.acceptedRole == .control)
    }

    @Test
    func theClientWithdrawsWhatTheServiceCouldNotStore() {
        var ends = AdmissionEnds.pairing()
        ends.serviceStore = .failure(AdmissionRefusal(.nameTaken, "the name is taken"))
        ends.run()
        #expect(ends.failure == .nameTaken && ends.pairedService == nil)
        guard case .withdraw(let service, _)? = ends.clientActions.last else {
            Issue.record("not withdrawn")
            return
        }
        #expect(service.fingerprint == AdmissionEnds.serviceKey)
    }

    @Test
    func aClientThatCannotCompleteHasNoSession() {
        var ends = AdmissionEnds.pairing()
        ends.clientCompletion = .failure(AdmissionRefusal(.failed, "the disk is full"))
        ends.run()
        #expect(ends.failure == .failed && ends.acceptedRole == nil)
    }

    /// A client that cannot remember the service does not let the service remember it.
    @Test
    func theClientStoresBeforeItConfirms() {
        var ends = AdmissionEnds.pairing()
        ends.clientStore = .failure(AdmissionRefusal(.failed, "the disk is full"))
        ends.run()
        #expect(ends.failure == .failed && ends.refusal == .failed)
        #expect(ends.pairedClient == nil && ends.authorisedRole == nil)
        #expect(!ends.frames.contains { $0.bytes[6] == 6 })
    }

    @Test
    func theServiceStoresBeforeItGrants() {
        var ends = AdmissionEnds.pairing()
        ends.serviceStore = .failure(AdmissionRefusal(.alreadyPaired, "the name is taken"))
        ends.run()
        #expect(ends.failure == .alreadyPaired && ends.refusal == .alreadyPaired)
        #expect(ends.authorisedRole == nil && ends.acceptedRole == nil)
        #expect(!ends.window.isOpen)
    }

    /// While a store is being written, what arrives waits, within the bound.
    @Test
    func whatArrivesDuringStoringWaits() throws {
        var ends = AdmissionEnds.pairing()
        let confirmation = try ends.runToConfirmation()
        let session = [UInt8](repeating: 0xFE, count: 100)
        var actions = (confirmation + session).withUnsafeBytes { ends.service.receive($0, &ends.window, at: ends.now) }
        #expect(actions.count == 2 && actions[0].stored != nil && actions[1] == .windowChanged)
        actions = session.withUnsafeBytes { ends.service.receive($0, &ends.window, at: ends.now) }
        #expect(actions.isEmpty)
        actions = ends.service.stored(.success(()))
        #expect(actions.last?.authorised?.remainder == session + session)
    }

    // MARK: - Time

    @Test
    func theConfirmationHasTwoSeconds() throws {
        var ends = AdmissionEnds.pairing()
        let confirmation = try ends.runToConfirmation()
        #expect(ends.service.deadline == ends.now + .seconds(2))
        ends.now += .milliseconds(1999)
        ends.perform(ends.service.update(&ends.window, at: ends.now))
        #expect(ends.refusal == nil && ends.window.isOpen)
        ends.now += .milliseconds(1)
        var late = ends
        ends.perform(ends.service.update(&ends.window, at: ends.now))
        #expect(ends.refusal == .timedOut && ends.serviceActions.last == .close)
        // And without the timer it is too late all the same.
        late.toService(confirmation)
        #expect(late.refusal == .timedOut && late.pairedClient == nil)
    }

    /// An attempt that began in time may end after the deadline.
    @Test
    func theLastSecondCounts() throws {
        var ends = AdmissionEnds.pairing()
        ends.now += .milliseconds(299_500)
        let confirmation = try ends.runToConfirmation()
        ends.now += .seconds(1)
        ends.perform(ends.service.update(&ends.window, at: ends.now))
        ends.toService(confirmation)
        #expect(ends.authorisedRole == .control && !ends.window.isOpen)
    }

    @Test
    func aLostConnectionFreesThePlace() throws {
        var ends = AdmissionEnds.pairing()
        try ends.runToConfirmation()
        #expect(throws: AdmissionRefusal.pairingBusy) { try ends.window.begin(at: ends.now) }
        ends.perform(ends.service.disconnected(&ends.window, at: ends.now))
        #expect(throws: Never.self) { try ends.window.begin(at: ends.now) }
        #expect(ends.service.isDone && ends.service.deadline == nil)
    }
}
