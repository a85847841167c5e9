import ElementalWire
import Testing

@testable import ElementalSecurity

/// A client's and a service's machine, joined by a wire on which a test can change and keep what passes.
struct AdmissionEnds {
    static let clientKey = Fingerprint(publicKey: Array("client".utf8))
    static let serviceKey = Fingerprint(publicKey: Array("service".utf8))
    static let strangerKey = Fingerprint(publicKey: Array("stranger".utf8))

    /// Where a frame comes from.
    enum Origin { case client, service }

    var window = PairingWindow()
    var now = ContinuousClock.now
    var client: ClientAdmission
    var service: ServiceAdmission
    /// What the stores answer.
    var clientStore: Result<Void, AdmissionRefusal> = .success(())
    var clientCompletion: Result<Void, AdmissionRefusal> = .success(())
    var serviceStore: Result<Void, AdmissionRefusal> = .success(())
    /// Changes frames on their way; `nil` loses one.
    var change: (Origin, [UInt8]) -> [UInt8]? = { $1 }

    private(set) var frames: [(origin: Origin, bytes: [UInt8])] = []
    private(set) var clientActions: [ClientAdmission.Action] = []
    private(set) var serviceActions: [ServiceAdmission.Action] = []

    init(
        _ purpose: ClientAdmission.Purpose, wanted: String? = "robot", service: String = "robot",
        name: String = "Rob's iPhone",
        clientKey: Fingerprint = clientKey, serviceKey: Fingerprint = serviceKey, pinned: Fingerprint? = nil,
        isLoopback: Bool = false, storedRole: Role? = nil, window: PairingWindow = PairingWindow(),
        clientRandom: @escaping @Sendable (Int) -> [UInt8] = Primitives.randomBytes,
        serviceRandom: @escaping @Sendable (Int) -> [UInt8] = Primitives.randomBytes
    ) {
        client = ClientAdmission(
            purpose, service: wanted, name: name, own: clientKey, peer: serviceKey, pinned: pinned, random: clientRandom
        )
        self.service = ServiceAdmission(
            service: service, own: serviceKey, peer: clientKey, isLoopback: isLoopback,
            storedRole: { $0 == clientKey ? storedRole : nil }, random: serviceRandom)
        self.window = window
    }

    /// Opens a window, and gives the client the secret that it shows or another one.
    static func pairing(
        _ kind: PairingSecret.Kind = .code, role: Role = .control, wanted: Role = .control, right: Bool = true,
        window: PairingWindow? = nil
    ) -> AdmissionEnds {
        var ends = AdmissionEnds(.pair(nil, wanted))
        let secret: PairingSecret
        if let window {
            ends.window = window
            secret = window.shown ?? .other
        } else {
            secret = ends.window.open(kind, for: .seconds(300), role: role, at: ends.now)
        }
        var other = PairingSecret(generating: kind)
        while other == secret { other = PairingSecret(generating: kind) }
        ends.client = ClientAdmission(
            .pair(right ? secret : other, wanted), service: "robot", name: "Rob's iPhone", own: clientKey,
            peer: serviceKey)
        return ends
    }

    /// Lets both ends talk until they have nothing more to say.
    mutating func run() {
        perform(client.start())
    }

    /// Lets both ends talk until the client confirms, which does not arrive.
    ///
    /// - Returns: the confirmation.
    @discardableResult
    mutating func runToConfirmation() throws -> [UInt8] {
        change = { origin, bytes in origin == .client && bytes[6] == 6 ? nil : bytes }
        run()
        return try #require(frames.last { $0.origin == .client }).bytes
    }

    /// What the client does, as its driver would carry it out.
    mutating func perform(_ actions: [ClientAdmission.Action]) {
        for action in actions {
            clientActions.append(action)
            switch action {
            case .send(let bytes):
                frames.append((.client, bytes))
                if let bytes = change(.client, bytes) { toService(bytes) }
            case .store(_, let isPending): perform(client.stored(isPending ? clientStore : clientCompletion))
            case .withdraw: perform(service.disconnected(&window, at: now))
            case .close: perform(service.disconnected(&window, at: now))
            default: break
            }
        }
    }

    /// What the service does, as its driver would carry it out.
    mutating func perform(_ actions: [ServiceAdmission.Action]) {
        for action in actions {
            serviceActions.append(action)
            switch action {
            case .send(let bytes):
                frames.append((.service, bytes))
                if let bytes = change(.service, bytes) { toClient(bytes) }
            case .store: perform(service.stored(serviceStore))
            default: break
            }
        }
    }

    mutating func toService(_ bytes: [UInt8]) {
        perform(bytes.withUnsafeBytes { service.receive($0, &window, at: now) })
    }

    mutating func toClient(_ bytes: [UInt8]) { perform(bytes.withUnsafeBytes { client.receive($0) }) }

    mutating func toService(_ message: AdmissionMessage) { toService(message.frame) }
    mutating func toClient(_ message: AdmissionMessage) { toClient(message.frame) }

    // MARK: - What came of it

    var authorisedRole: Role? { serviceActions.lazy.compactMap(\.authorised).first?.role }
    var acceptedRole: Role? { clientActions.lazy.compactMap(\.authorised).first?.role }
    var pairedClient: PairedClient? { serviceActions.lazy.compactMap(\.stored).first }
    /// The service that the client stored last, if the pairing is complete.
    var pairedService: PairedService? {
        guard case .store(let service, isPending: false)? = clientActions.last(where: { $0.isStoring }) else {
            return nil
        }
        return service
    }
    /// Why the client failed.
    var failure: AdmissionRefusal.Code? { clientActions.lazy.compactMap(\.failure).first?.code }
    /// Why the service refused, or what the client said.
    var refusal: AdmissionRefusal.Code? { serviceActions.lazy.compactMap(\.refusal).first?.code }
    /// The last message of an end.
    func lastMessage(_ origin: Origin) throws -> AdmissionMessage {
        let frame = try #require(frames.last { $0.origin == origin }?.bytes)
        return try message(frame)
    }
}

/// The message in a frame.
func message(_ frame: [UInt8]) throws -> AdmissionMessage {
    try Array(frame.dropFirst(5)).withUnsafeBytes { try AdmissionMessage(wireBytes: $0) }
}

extension PairingWindow {
    /// The secret on the service's screen, found by an attempt that leaves no trace, once the place is free.
    var shown: PairingSecret? {
        var copy = self
        return try? copy.begin(at: .now + PairingWindow.attemptTime).secret
    }
}

extension PairingSecret {
    static var other: PairingSecret { PairingSecret(generating: .code) }
}

extension ServiceAdmission.Action {
    var authorised: AuthorisedClient? { if case .authorised(let client) = self { client } else { nil } }
    var stored: PairedClient? { if case .store(let client) = self { client } else { nil } }
    var refusal: AdmissionRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}

extension ClientAdmission.Action {
    var authorised: AuthorisingService? { if case .authorised(let service) = self { service } else { nil } }
    var isStoring: Bool { if case .store = self { true } else { false } }
    var failure: AdmissionRefusal? {
        switch self {
        case .failed(let refusal), .withdraw(_, let refusal): refusal
        default: nil
        }
    }
}
