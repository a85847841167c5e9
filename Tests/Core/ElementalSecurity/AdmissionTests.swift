import ElementalWire
import Testing

@testable import ElementalSecurity

/// What clients get that are paired already, or are the service's own identity.
struct AdmissionTests {
    @Test(arguments: [
        (Role.observe, Role.observe, Role.observe), (.observe, .control, .observe), (.observe, .admin, .observe),
        (.control, .observe, .observe), (.control, .control, .control), (.control, .admin, .control),
        (.admin, .observe, .observe), (.admin, .control, .control), (.admin, .admin, .admin),
    ])
    func theLesserRoleIsGranted(_ stored: Role, _ wanted: Role, _ granted: Role) {
        var ends = AdmissionEnds(.connect(wanted), storedRole: stored)
        ends.run()
        #expect(ends.authorisedRole == granted && ends.acceptedRole == granted)
        #expect(ends.serviceActions.compactMap(\.authorised).first?.name == "Rob's iPhone")
        #expect(ends.serviceActions.compactMap(\.authorised).first?.fingerprint == AdmissionEnds.clientKey)
        #expect(ends.clientActions.compactMap(\.authorised).first?.service == "robot")
    }

    @Test
    func strangersAreRefused() {
        var ends = AdmissionEnds(.connect(.observe), storedRole: nil)
        ends.run()
        #expect(ends.authorisedRole == nil && ends.acceptedRole == nil)
        #expect(ends.failure == .notPaired && ends.refusal == .notPaired)
        #expect(ends.serviceActions.last == .close && ends.clientActions.last == .close)
    }

    /// A plain client's role is none that could be granted, stored or asked for.
    @Test
    func plainIsNotGranted() {
        var ends = AdmissionEnds(.connect(.admin), storedRole: .plain)
        ends.run()
        #expect(ends.authorisedRole == nil && ends.failure == .notPaired)
        ends = AdmissionEnds(.connect(.plain), storedRole: .control)
        ends.run()
        #expect(ends.authorisedRole == .observe && ends.acceptedRole == .observe)
        ends = AdmissionEnds.pairing(role: .plain, wanted: .plain)
        ends.run()
        #expect(ends.pairedClient?.role == .observe && ends.pairedService?.role == .observe)
        ends = AdmissionEnds(.openWindow(seconds: 10, .plain, .code), storedRole: .admin)
        ends.run()
        #expect(ends.window.isOpen && ends.failure == nil)
    }

    /// The own fingerprint controls without pairing; it is an admin only over loopback, and only if it asks for it.
    @Test(arguments: [
        (true, Role.admin, Role.admin), (true, .control, .control), (true, .observe, .observe),
        (false, .admin, .control), (false, .control, .control), (false, .observe, .observe),
    ])
    func theOwnIdentityNeedsNoPairing(_ isLoopback: Bool, _ wanted: Role, _ granted: Role) {
        var ends = AdmissionEnds(
            .connect(wanted), clientKey: AdmissionEnds.serviceKey, isLoopback: isLoopback, storedRole: nil)
        ends.run()
        #expect(ends.authorisedRole == granted && ends.acceptedRole == granted)
    }

    /// An attacker who redirects a connection to another service of the same identity gains nothing.
    @Test
    func anotherServiceIsRefused() {
        var ends = AdmissionEnds(.connect(.control), wanted: "lamp", storedRole: .admin)
        ends.run()
        #expect(ends.authorisedRole == nil && ends.failure == .wrongService)
        var pairing = AdmissionEnds(.pair(nil, .control), wanted: "lamp")
        _ = pairing.window.open(.code, for: .seconds(300), role: .control, at: pairing.now)
        pairing.run()
        #expect(pairing.failure == .wrongService && pairing.refusal == .wrongService)
    }

    /// The client looks, too: a service that says yes to everything names itself.
    @Test
    func aClientAcceptsOnlyTheServiceThatItWants() {
        var ends = AdmissionEnds(.connect(.control), wanted: "lamp")
        _ = ends.client.start()
        ends.toClient(.granted(service: "robot", role: .control))
        #expect(ends.acceptedRole == nil && ends.failure == .wrongService)
    }

    @Test
    func aNameIsNotCutToBecomeAnothers() {
        let name = String(repeating: "a", count: 63)
        for (wanted, isAdmitted) in [(name, true), (name + "b", false), (name + "\u{7}", false)] {
            var ends = AdmissionEnds(.connect(.control), wanted: wanted, service: name, storedRole: .control)
            ends.run()
            #expect((ends.acceptedRole == .control) == isAdmitted)
            #expect((ends.failure == .wrongService) == !isAdmitted)
        }
    }

    @Test
    func namesOfServicesAreComparedWithoutRegardToCase() {
        var ends = AdmissionEnds(.connect(.control), wanted: "RoBot", storedRole: .control)
        ends.run()
        #expect(ends.acceptedRole == .control)
    }

    @Test
    func aClientWithoutANameLearnsIt() {
        var ends = AdmissionEnds(.connect(.control), wanted: nil, storedRole: .control)
        ends.run()
        #expect(ends.clientActions.compactMap(\.authorised).first?.service == "robot")
    }

    /// More than was asked for is not a gift but a broken service.
    @Test
    func aClientDoesNotTakeMoreThanItAskedFor() {
        var ends = AdmissionEnds(.connect(.observe))
        _ = ends.client.start()
        ends.toClient(.granted(service: "robot", role: .control))
        #expect(ends.acceptedRole == nil && ends.failure == .malformed)
    }

    /// What follows in the same segment is the session's, however the network splits it.
    @Test(arguments: [1, 3, 7, 1000])
    func theSessionGetsWhatFollows(_ size: Int) {
        let session: [UInt8] = [0xFF, 1, 0, 0, 0, 7] + [UInt8](repeating: 5, count: 20_000)
        var ends = AdmissionEnds(.connect(.control), storedRole: .control)
        _ = ends.client.start()
        let arriving = AdmissionMessage.granted(service: "robot", role: .control).frame + session
        var got: [UInt8] = []
        for start in stride(from: 0, to: arriving.count, by: size) {
            let piece = Array(arriving[start..<min(start + size, arriving.count)])
            if ends.client.isDone { got += piece } else { ends.toClient(piece) }
        }
        let remainder = ends.clientActions.compactMap(\.authorised).first?.remainder
        #expect((remainder ?? []) + got == session)

        let name: [UInt8] = [0xFE, 3, 0, 0, 0, 65, 66, 67]
        ends.toService(
            AdmissionMessage.connect(service: "robot", role: .control, name: "A").frame + name)
        #expect(ends.serviceActions.compactMap(\.authorised).first?.remainder == name)
    }

    @Test
    func ownNamesAreMadeToFit() throws {
        for (name, sent) in [
            (String(repeating: "é", count: 40), String(repeating: "é", count: 32)), ("a\u{1B}[31m\nb", "a[31mb"),
            ("\n", AdmissionEnds.clientKey.short), ("", AdmissionEnds.clientKey.short),
        ] {
            var ends = AdmissionEnds(.connect(.control), name: name, storedRole: .control)
            ends.run()
            #expect(ends.serviceActions.compactMap(\.authorised).first?.name == sent)
        }
    }

    // MARK: - Admin's commands

    private static let commands: [ClientAdmission.Purpose] = [
        .openWindow(seconds: 60, .control, .code), .revoke(AdmissionEnds.strangerKey),
    ]

    @Test(arguments: commands, [Role.observe, .control])
    func commandsAreRefusedBelowAdmin(_ command: ClientAdmission.Purpose, _ role: Role) {
        var ends = AdmissionEnds(command, isLoopback: true, storedRole: role)
        ends.run()
        #expect(ends.failure == .notAuthorised && !ends.window.isOpen)
        #expect(!ends.serviceActions.contains { if case .revoke = $0 { true } else { false } })
    }

    @Test(arguments: commands)
    func theOwnIdentityCommandsOnItsOwnHostOnly(_ command: ClientAdmission.Purpose) {
        var ends = AdmissionEnds(command, clientKey: AdmissionEnds.serviceKey, isLoopback: false)
        ends.run()
        #expect(ends.failure == .notAuthorised && !ends.window.isOpen)
    }

    @Test(
        arguments: [
            (true, Role.admin, Role.admin), (true, .observe, .observe), (false, .admin, .control),
            (false, .control, .control), (false, .observe, .observe),
        ], PairingSecret.Kind.allCases)
    func anAdminOpensAWindow(_ roles: (isLoopback: Bool, wanted: Role, granted: Role), _ kind: PairingSecret.Kind)
        throws
    {
        var ends = AdmissionEnds(
            .openWindow(seconds: 60, roles.wanted, kind), isLoopback: roles.isLoopback, storedRole: .admin)
        ends.run()
        let opened = ends.clientActions.lazy.compactMap { action -> (UInt16, Role, PairingSecret)? in
            if case .windowOpened(let seconds, let role, let secret) = action { (seconds, role, secret) } else { nil }
        }.first
        let (seconds, role, secret) = try #require(opened)
        #expect(seconds == 60 && role == roles.granted && secret.kind == kind)
        #expect(ends.serviceActions.contains(.windowChanged))

        // The window is the service's: whoever types the secret gets that role at most, on the admin's account.
        let attempt = try ends.window.begin(at: ends.now)
        #expect(attempt.secret == secret && attempt.role == roles.granted)
        #expect(attempt.openedBy == AdmissionEnds.clientKey)
    }

    @Test
    func aWindowOfTheHostItselfIsOnNobodysAccount() throws {
        var ends = AdmissionEnds(
            .openWindow(seconds: 0, .control, .code), clientKey: AdmissionEnds.serviceKey, isLoopback: true)
        ends.run()
        let attempt = try ends.window.begin(at: ends.now)
        #expect(attempt.openedBy == nil)
        ends = AdmissionEnds(.openWindow(seconds: .max, .control, .code), isLoopback: true, storedRole: .admin)
        ends.run()
        let deadline = try #require(ends.window.state?.deadline)
        #expect(deadline - ends.now == .seconds(3600))
    }

    @Test
    func anAdminRevokes() throws {
        var ends = AdmissionEnds(.revoke(AdmissionEnds.strangerKey), storedRole: .admin)
        ends.run()
        #expect(ends.serviceActions.last == .revoke(AdmissionEnds.strangerKey, by: AdmissionEnds.clientKey))
        // More names than a frame holds: the first of them, and how many there are.
        let paired = (0..<100).map { number in
            PairedName(fingerprint: Fingerprint(publicKey: [UInt8(number)]), name: String(repeating: "n", count: 64))
        }
        ends.perform(ends.service.revoked(.success((pairedCount: 70_000, paired: paired))))
        let revoked = ends.clientActions.lazy.compactMap { action -> (Int, [PairedName])? in
            if case .revoked(let count, let names) = action { (count, names) } else { nil }
        }.first
        let (count, names) = try #require(revoked)
        #expect(count == 65_535 && names == Array(paired.prefix(10)))
        #expect(ends.frames.allSatisfy { $0.bytes.count <= 1024 })
    }

    @Test
    func aStoreThatFailsIsTold() {
        var ends = AdmissionEnds(.revoke(AdmissionEnds.strangerKey), storedRole: .admin)
        ends.run()
        ends.perform(ends.service.revoked(.failure(AdmissionRefusal(.failed, "the disk is full"))))
        #expect(ends.failure == .failed)
    }
}
