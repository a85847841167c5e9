@testable import ElementalSecurity

/// What both ends take before a session begins. Whoever knows no code and is not paired is admitted nowhere, whatever it
/// sends; a message that can be read is the same bytes when it is written again.
enum AdmissionTarget: FuzzTarget {
    static let name = "admission"

    private static let own = Fingerprint(publicKey: [1])
    private static let peer = Fingerprint(publicKey: [2])
    private static let start = ContinuousClock.now
    private static let secret = PairingSecret(generating: .code, random: bytes)

    /// The same in each run, so that a finding can be repeated.
    @Sendable private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    }

    private static let messages: [AdmissionMessage] = [
        .connect(service: "robot", role: .control, name: "A"), .pair(service: "robot"), .pair(service: nil),
        .offer(PairingOffer(kind: .code, seconds: 300, service: "robot", nonce: bytes(16))),
        .initiation(PairingInitiation(nonce: bytes(16), point: [9] + bytes(31), role: .control, name: "A")),
        .response(PairingResponse(point: [9] + bytes(31), role: .control, tag: bytes(32))),
        .confirmation(tag: bytes(32)), .granted(service: "robot", role: .observe),
        .openWindow(service: "robot", seconds: 300, role: .control, kind: .secret),
        .windowOpened(seconds: 300, role: .control, secret: secret), .revoke(service: nil, own),
        .revoked(pairedCount: 1, [PairedName(fingerprint: own, name: "B")]),
        .refused(AdmissionRefusal(.failed, "the disk is full")),
    ]

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let frames = messages.map(\.frame)
        return (0..<UInt8(8)).flatMap { state in
            frames.map { [state, 255] + $0 } + [
                [state, 3] + frames.joined(), [state, 255] + frames.reversed().joined(),
            ]
        }
    }

    /// The first byte says which end and how far it is, the second how long the pieces are.
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        let state = reader.byte()
        let size = Int(reader.byte()) + 1
        let bytes = reader.bytes()
        checkMessage(Array(bytes.dropFirst(5)))
        let pieces = bytes.pieces(of: size)
        if state & 1 == 0 {
            runService(state >> 1 & 3, pieces)
        } else {
            runClient(state >> 1 & 3, pieces)
        }
    }

    private static func checkMessage(_ value: [UInt8]) {
        guard let message = value.withUnsafeBytes({ try? AdmissionMessage(wireBytes: $0) }) else { return }
        check(message.frame.dropFirst(5).elementsEqual(value), "a message that changes")
        check(message.frame.count <= 1024, "a frame that is too long")
    }

    private static func runService(_ state: UInt8, _ pieces: [[UInt8]]) {
        var window = PairingWindow()
        if state > 0 { _ = window.open(.code, for: .seconds(300), role: .admin, at: start, random: Self.bytes) }
        var service = ServiceAdmission(
            service: "robot", own: own, peer: peer, isLoopback: true, storedRole: { _ in nil }, random: Self.bytes)
        if state > 1 {
            // A client that has the offer, or the answer to a guess.
            var client = ClientAdmission(
                .pair(PairingSecret(code: "999999"), .admin), service: "robot", name: "A", own: peer, peer: own,
                random: Self.bytes)
            var sent = client.start()
            for _ in 1..<state {
                let actions = frames(sent).withUnsafeBytes { service.receive($0, &window, at: start) }
                sent = frames(actions).withUnsafeBytes { client.receive($0) }
            }
        }
        let number = window.state?.number
        var isClosed = false
        for piece in pieces {
            for action in piece.withUnsafeBytes({ service.receive($0, &window, at: start) }) {
                check(!isClosed || action == .windowChanged, "something after the end")
                switch action {
                case .send(let bytes): check(bytes.count <= 1024, "a frame that is too long")
                case .close: isClosed = true
                case .authorised, .store, .revoke: check(false, "a stranger is admitted")
                case .refused, .windowChanged: break
                }
            }
        }
        check(isClosed == service.isDone, "done and not closed")
        check(window.state.map { $0.number == number } ?? true, "a stranger opens a window")
        _ = service.disconnected(&window, at: start)
        check(service.deadline == nil, "a place that is still held")
    }

    private static func runClient(_ state: UInt8, _ pieces: [[UInt8]]) {
        let purposes: [ClientAdmission.Purpose] = [
            .connect(.control), .pair(secret, .control), .openWindow(seconds: 300, .control, .code), .revoke(own),
        ]
        let purpose = purposes[Int(state)]
        var client = ClientAdmission(purpose, service: "robot", name: "A", own: own, peer: peer, random: Self.bytes)
        _ = client.start()
        var isOver = false
        for piece in pieces {
            for action in piece.withUnsafeBytes({ client.receive($0) }) {
                check(!isOver, "something after the end")
                switch action {
                case .send(let bytes): check(bytes.count <= 1024, "a frame that is too long")
                case .close: isOver = true
                case .authorised(let service):
                    isOver = true
                    check(purpose == .connect(.control) && service.role <= .control, "an admission nobody asked for")
                    check(service.service == "robot", "another service")
                case .store, .withdraw: check(false, "a stranger is pinned")
                case .windowOpened(_, let role, let secret):
                    check(state == 2 && role <= .control && secret.kind == .code, "another window")
                case .revoked: check(state == 3, "a command that was not given")
                case .asked: check(false, "the secret is known")
                case .failed: break
                }
            }
        }
        check(isOver == client.isDone, "done and not closed")
    }

    private static func frames(_ actions: [ClientAdmission.Action]) -> [UInt8] {
        actions.flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
    }

    private static func frames(_ actions: [ServiceAdmission.Action]) -> [UInt8] {
        actions.flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
    }
}
