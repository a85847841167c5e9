import Testing

@testable import ElementalSecurity

/// Messages at the wrong time, and bytes that are none.
struct AdmissionOrderTests {
    private static let nonce = [UInt8](repeating: 1, count: 16)
    private static let point = [9] + [UInt8](repeating: 0, count: 31)
    private static let tag = [UInt8](repeating: 3, count: 32)
    private static let secret = PairingSecret(generating: .secret)

    /// One of each.
    static let messages: [AdmissionMessage] = [
        .connect(service: "robot", role: .control, name: "A"), .connect(service: nil, role: .observe, name: "é"),
        .pair(service: "robot"), .pair(service: nil),
        .offer(PairingOffer(kind: .code, seconds: 300, service: "robot", nonce: nonce)),
        .initiation(PairingInitiation(nonce: nonce, point: point, role: .control, name: "A")),
        .response(PairingResponse(point: point, role: .control, tag: tag)), .confirmation(tag: tag),
        .granted(service: "robot", role: .admin),
        .openWindow(service: "robot", seconds: 300, role: .control, kind: .secret),
        .windowOpened(seconds: 300, role: .control, secret: secret),
        .windowOpened(seconds: 1, role: .observe, secret: PairingSecret.other),
        .revoke(service: "robot", AdmissionEnds.strangerKey), .revoked(pairedCount: 0, []),
        .revoked(pairedCount: 2, [PairedName(fingerprint: AdmissionEnds.strangerKey, name: "B")]),
        .refused(AdmissionRefusal(.failed, "the disk is full")), .refused(AdmissionRefusal(.init(rawValue: 200), "")),
    ]

    private static func read(_ value: [UInt8]) throws -> AdmissionMessage {
        try value.withUnsafeBytes { try AdmissionMessage(wireBytes: $0) }
    }

    private static func openings(_ message: AdmissionMessage) -> Bool {
        switch message {
        case .connect, .pair, .openWindow, .revoke, .refused: true
        default: false
        }
    }

    @Test(arguments: messages)
    func messagesSurviveTheWire(_ sent: AdmissionMessage) throws {
        #expect(try message(sent.frame) == sent)
        #expect(sent.frame[0] == 0xF3 && sent.frame.count <= 1024 && sent.frame[5] == 1)
    }

    /// Every shorter value, one byte more, and another version.
    @Test(arguments: messages)
    func whatIsNotExactlyAMessageIsRefused(_ sent: AdmissionMessage) throws {
        let value = Array(sent.frame.dropFirst(5))
        for count in 0..<value.count {
            // A list of names may be shorter by a whole one.
            if case .revoked = sent, count == 4 { continue }
            #expect(throws: AdmissionRefusal.malformed) { try Self.read(Array(value.prefix(count))) }
        }
        #expect(throws: AdmissionRefusal.malformed) { try Self.read(value + [0]) }
        #expect(throws: AdmissionRefusal.version) { try Self.read([2] + value.dropFirst()) }
        #expect(throws: AdmissionRefusal.malformed) { try Self.read([0] + value.dropFirst()) }
    }

    @Test(arguments: [
        "01 01 00 02 00", "01 01 00 00 01 41", "01 01 00 04 01 41", "01 01 00 02 01 FF", "01 01 00 02 01 1B",
        "01 01 00 02 02 C2 85", "01 01 01 0A 02 01 41", "01 00", "01 08", "01 FE", "01 07 02 00",
        "01 10 00 3C 00 02 03",
        "01 11 3C 00 02 01 31 32 33 34 35", "01 11 3C 00 02 01 31 32 33 34 35 3A",
        "01 11 3C 00 02 02 31 32 33 34 35 36",
        "01 FF 01 01 0A",
    ])
    func valuesThatDoNotExistAreRefused(_ hex: String) {
        #expect(throws: AdmissionRefusal.malformed) { try Self.read(bytes(hex)) }
    }

    @Test
    func namesHaveALength() {
        for (count, isName) in [(64, true), (65, false)] {
            let value = [1, 1, 0, 2, UInt8(count)] + [UInt8](repeating: 65, count: count)
            #expect(((try? Self.read(value)) != nil) == isName)
        }
        for (count, isName) in [(63, true), (64, false)] {
            let value = [1, 2, UInt8(count)] + [UInt8](repeating: 97, count: count)
            #expect(((try? Self.read(value)) != nil) == isName)
        }
    }

    // MARK: - Order

    @Test(arguments: messages)
    func aServiceTakesOnlyWhatIsDue(_ message: AdmissionMessage) throws {
        var ends = AdmissionEnds(.connect(.control))
        ends.change = { _, _ in nil }
        _ = ends.window.open(.code, for: .seconds(300), role: .control, at: ends.now)
        ends.toService(message)
        if Self.openings(message) {
            #expect(ends.refusal != .malformed)
        } else {
            #expect(ends.refusal == .malformed && ends.serviceActions.last == .close)
        }
        #expect(ends.authorisedRole == nil && ends.pairedClient == nil)

        // After the offer only the initiation, or a refusal.
        ends = AdmissionEnds(.connect(.control), storedRole: .admin)
        ends.change = { _, _ in nil }
        _ = ends.window.open(.code, for: .seconds(300), role: .control, at: ends.now)
        ends.toService(.pair(service: "robot"))
        ends.toService(message)
        switch message {
        case .initiation, .refused: #expect(ends.refusal != .malformed)
        default: #expect(ends.refusal == .malformed)
        }
        #expect(ends.authorisedRole == nil && ends.pairedClient == nil)

        // After the response only the confirmation, or a refusal.
        ends = AdmissionEnds.pairing()
        try ends.runToConfirmation()
        ends.toService(message)
        switch message {
        case .confirmation: #expect(ends.refusal == .wrongCode)
        case .refused: #expect(ends.refusal != .malformed)
        default: #expect(ends.refusal == .malformed)
        }
        #expect(ends.authorisedRole == nil && ends.pairedClient == nil)
        // And then no more.
        let count = ends.serviceActions.count
        ends.toService(message)
        #expect(ends.serviceActions.count == count)
    }

    @Test(arguments: messages)
    func aClientTakesOnlyWhatIsDue(_ message: AdmissionMessage) {
        let purposes: [ClientAdmission.Purpose] = [
            .connect(.admin), .pair(Self.secret, .control), .openWindow(seconds: 300, .control, .secret),
            .revoke(AdmissionEnds.strangerKey),
        ]
        for purpose in purposes {
            var ends = AdmissionEnds(purpose)
            ends.change = { _, _ in nil }
            ends.run()
            ends.toClient(message)
            switch (purpose, message) {
            case (_, .refused(let refusal)): #expect(ends.failure == refusal.code)
            case (.connect, .granted): #expect(ends.acceptedRole == .admin)
            case (.pair, .offer): #expect(ends.failure == .wrongCode)
            case (.openWindow, .windowOpened(_, _, let secret)) where secret.kind == .secret:
                #expect(ends.failure == nil)
            case (.revoke, .revoked): #expect(ends.failure == nil)
            default: #expect(ends.failure == .malformed)
            }
            #expect(ends.pairedService == nil)
        }
    }

    /// A client without the code does not begin, and one that has confirmed takes nothing but the grant.
    @Test
    func aClientInTheMiddleTakesOnlyWhatIsDue() throws {
        for message in Self.messages {
            var ends = AdmissionEnds.pairing()
            try ends.runToConfirmation()
            ends.toClient(message)
            if case .refused = message {
                #expect(ends.failure != nil)
            } else {
                // Another role than the one that both ends confirmed is none.
                #expect(ends.failure == .malformed && ends.acceptedRole == nil)
            }
        }
    }

    // MARK: - Bounds

    /// Only this system element, and a length that is looked at before anything of it is kept.
    @Test
    func otherFramesEndIt() {
        for first: [UInt8] in [
            [0xFF], [0xFD], [0x01], [0x16, 3, 1], [0xF3, 0xFC, 3, 0, 0], [0xF3, 0, 0, 0, 0x80], [0xF3, 0, 0, 0, 0],
            [0xF3, 1, 0, 0, 0, 1],
        ] {
            var ends = AdmissionEnds(.connect(.control), storedRole: .control)
            ends.toService(first)
            #expect(ends.refusal == .malformed && ends.service.isDone)
            _ = ends.client.start()
            ends.toClient(first)
            #expect(ends.failure == .malformed && ends.client.isDone)
        }
    }

    @Test
    func theLongestFrameIsWaitedFor() {
        var ends = AdmissionEnds(.connect(.control), storedRole: .control)
        ends.toService([0xF3, 0xFB, 3, 0, 0])
        ends.toService([UInt8](repeating: 1, count: 1018))
        #expect(!ends.service.isDone)
        ends.toService([1])
        #expect(ends.refusal == .malformed)
    }

    /// However a client goes on before it is admitted, it is given 8 KiB.
    @Test
    func thereIsABoundBeforeAdmission() throws {
        var ends = AdmissionEnds.pairing()
        let confirmation = try ends.runToConfirmation()
        var actions = confirmation.withUnsafeBytes { ends.service.receive($0, &ends.window, at: ends.now) }
        #expect(actions.first?.stored != nil)
        // The store takes its time, and the client does not.
        let sent = ends.frames.filter { $0.origin == .client }.reduce(0) { $0 + $1.bytes.count }
        actions = [UInt8](repeating: 0xFE, count: 8192 - sent).withUnsafeBytes {
            ends.service.receive($0, &ends.window, at: ends.now)
        }
        #expect(actions.isEmpty && !ends.service.isDone)
        actions = [0xFE].withUnsafeBytes { ends.service.receive($0, &ends.window, at: ends.now) }
        #expect(actions.last == .close && ends.service.isDone)
        actions = ends.service.stored(.success(()))
        #expect(actions.isEmpty)
    }

    @Test
    func framesMayArriveByteByByte() {
        var ends = AdmissionEnds(.connect(.control), storedRole: .control)
        ends.change = { _, _ in nil }
        ends.run()
        for byte in ends.frames[0].bytes { ends.toService([byte]) }
        #expect(ends.authorisedRole == .control)
        for byte in ends.frames[1].bytes { ends.toClient([byte]) }
        #expect(ends.acceptedRole == .control)
    }
}
