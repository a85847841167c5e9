import ElementalSecurity
import ElementalWire
import Glibc
import TestSupport
import Testing

@testable import Elemental

/// Encrypted connections between paired ends.
struct SecureConnectionTests {
    private enum Key: CaseIterable {
        case ed25519, p256

        func make() async throws -> any Identity {
            self == .ed25519 ? Ed25519Identity() : try await P256Identity.make()
        }
    }

    @Test(arguments: Key.allCases, Key.allCases)
    private func pairedEndsExchangeValues(_ serviceKey: Key, _ clientKey: Key) async throws {
        let ends = try PairedEnds(service: try await serviceKey.make(), client: try await clientKey.make())
        try await ends.withPair { service, device in
            #expect(device.fingerprint == ends.service.fingerprint)
            #expect(device.grantedRole == .control)
            service.onValue(of: Lamp.label) { value, device in try? device.send("got \(value)", to: Lamp.label) }
            let answers = Transcript<String>()
            device.onValue(of: Lamp.label) { answers.add($0) }
            try device.send("on", to: Lamp.label)
            try await answers.wait(for: 1)
            #expect(answers.all == ["got on"])
            #expect(service.devices.map(\.fingerprint) == [ends.client.fingerprint])
            #expect(service.devices.map(\.grantedRole) == [.control])
            #expect(try await device.ping() > .zero)
        }
    }

    /// Its process died: over TLS it said no farewell, which is no error of the network.
    @Test(arguments: ConnectionKind.allCases)
    func aClientThatVanishesHasClosedItsConnection(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            try await eventually { service.devices.count == 1 }
            let served = try #require(service.devices.first)
            let channel = try #require(device.outbound.withLock { $0.link }).channel
            try await device.eventLoop.submit {
                _ = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { descriptor in
                    shutdown(descriptor, CInt(SHUT_WR))
                }
            }.get()
            #expect(try await served.waitUntilDisconnected().kind == .closedByPeer)
        }
    }

    /// Neither end shows what the library of TLS says, which has the places of its source.
    @Test
    func aChangedRecordIsToldInWords() async throws {
        let ends = try PairedEnds()
        try await ends.withPair { service, device in
            try await eventually { service.devices.count == 1 }
            let served = try #require(service.devices.first)
            let channel = try #require(device.outbound.withLock { $0.link }).channel
            try await device.eventLoop.submit {
                _ = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { descriptor in
                    let record: [UInt8] = [0x17, 3, 3, 0, 32] + [UInt8](repeating: 7, count: 32)
                    return write(descriptor, record, record.count)
                }
            }.get()
            let reason = try await served.waitUntilDisconnected().description
            #expect(reason.contains("changed on the way"), "\(reason)")
            for text in [reason, try await device.waitUntilDisconnected().description] {
                #expect(!text.contains("SSL") && !text.contains("/"), "\(text)")
            }
        }
    }

    @Test
    func aKeyThatCannotBeExportedSigns() async throws {
        /// Signs with a key that it keeps to itself.
        struct Enclave: Identity {
            let fingerprint: Fingerprint
            let certificate: [UInt8]
            let privateKey: IdentityKey

            init(_ other: Ed25519Identity) {
                fingerprint = other.fingerprint
                certificate = other.certificate
                guard case .pkcs8(let key) = other.privateKey else { preconditionFailure() }
                privateKey = .external(.ed25519) { message in
                    Primitives.ed25519Signature(of: message, seed: Array(key.suffix(32)))
                }
            }
        }
        let ends = try PairedEnds(service: Enclave(Ed25519Identity()), client: Enclave(Ed25519Identity()))
        let time = Transcript<Duration>()
        try await ends.withPair { _, device in time.add(try await device.ping()) }
        #expect(time.all.count == 1)
    }

    @Test
    func aClientGetsTheLesserOfWhatItAsksForAndWhatItWasGranted() async throws {
        for (granted, asked, role) in [
            (.control, .observe, .observe), (.observe, .control, .observe), (.admin, .control, .control),
        ] as [(Role, Role, Role)] {
            let ends = try PairedEnds(granted)
            try await ends.withService { service, port in
                let device = try await ends.connect(port) { $0.security.role = asked }
                #expect(device.grantedRole == role)
                try await eventually { service.devices.map(\.grantedRole) == [role] }
                await device.close()
            }
        }
    }

    @Test
    func anotherProgramOfTheSameUserNeedsNoPairing() async throws {
        let ends = try PairedEnds(nil)
        try await ends.withService { service, port in
            var options = ConnectOptions.patient
            options.security = .required(identity: ends.service, store: ends.clientStore)
            let device = try await connectByName(port, options: options)
            #expect(device.grantedRole == .control)
            await device.close()
        }
    }

    @Test
    func aServiceThatIsNotPairedIsNotConnectedToWhereThatIsRequired() async throws {
        let ends = try PairedEnds()
        try await withService { _, port in
            #expect(await errorCode { try await ends.connect(port, as: "Other") } == .notPaired)
            // Without the requirement it is connected to as ever.
            let device = try await ends.connect(port, as: "Other") {
                $0.security = .automatic(identity: ends.client, store: ends.clientStore)
            }
            #expect(device.fingerprint == nil)
            #expect(device.grantedRole == nil)
            await device.close()
        }
    }

    @Test
    func aClientThatIsNotPairedIsToldSo() async throws {
        let ends = try PairedEnds(nil)
        try await ends.withService { service, port in
            let error = await #expect(throws: ElementalError.self) { try await ends.connect(port) }
            #expect(error?.code == .notPaired)
            #expect(error?.message.contains("elemental pair") == true)
            #expect(service.devices.isEmpty)
        }
    }

    @Test
    func aServiceWithAnotherKeyIsNotConnectedTo() async throws {
        let ends = try PairedEnds()
        try ends.repin(Ed25519Identity().fingerprint)
        try await ends.withService { service, port in
            #expect(await errorCode { try await ends.connect(port) } == .identityChanged)
            #expect(service.devices.isEmpty)
        }
    }

    @Test
    func whatIsPairedIsNeverSpokenToInPlain() async throws {
        // An open service in the place of the paired one.
        let ends = try PairedEnds()
        try await withService { service, port in
            for security in [
                ends.clientSecurity, .automatic(identity: ends.client, store: ends.clientStore),
            ] {
                let error = await elementalError { try await ends.connect(port) { $0.security = security } }
                #expect(error?.code == .connectionFailed)
            }
            #expect(service.devices.isEmpty)
            // Unless the user says so.
            let device = try await ends.connect(port) { $0.security = .open }
            await device.close()
        }
    }

    @Test
    func aHostThatWasPairedIsNotSpokenToInPlainAtAnyPort() async throws {
        let ends = try PairedEnds()
        try await withService { _, port in
            try ends.clientStore.update { $0.services[0].hosts = [.init("127.0.0.1", port: UInt16(port))] }
            var options = ConnectOptions.patient
            options.security = .automatic(identity: ends.client, store: ends.clientStore)
            let error = await #expect(throws: ElementalError.self) {
                _ = try await ElementalDevice.connect(
                    host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options)
            }
            #expect(error?.code == .connectionFailed)
        }
    }

    @Test
    func aServiceIsFoundByHostAndPort() async throws {
        let ends = try PairedEnds()
        try await ends.withService { _, port in
            // Where it was reached by its name is remembered.
            try await ends.connect(port).close()
            try await eventually {
                ends.clientStore.read().services[0].hosts == [.init("127.0.0.1", port: UInt16(port))]
            }
            var options = ConnectOptions.patient
            options.security = ends.clientSecurity
            func connect() async throws -> ElementalDevice {
                try await ElementalDevice.connect(
                    host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options)
            }
            let device = try await connect()
            #expect(device.fingerprint == ends.service.fingerprint)
            await device.close()
            // The same key, pinned for another service, does not do.
            try ends.clientStore.update { $0.services[0].service = "other" }
            #expect(await errorCode { try await connect() } == .notPaired)
        }
    }

    @Test
    func aServiceRefusesWhoWantsAnotherService() async throws {
        let ends = try PairedEnds()
        try await ends.withService { service, port in
            try ends.clientStore.update { $0.services[0].service = "robot" }
            var options = ConnectOptions.patient
            options.security = ends.clientSecurity
            #expect(await errorCode { try await connectByName(port, service: "robot", options: options) } == .refused)
            #expect(service.devices.isEmpty)
        }
    }

    @Test
    func aConnectionEndsAsAPlainOneDoes() async throws {
        let ends = try PairedEnds()
        try await ends.withService { service, port in
            let labels = Transcript<String>()
            service.onValue(of: Lamp.label) { value, _ in labels.add(value) }
            let first = try await ends.connect(port)
            try await eventually { service.devices.count == 1 }
            let other = try #require(service.devices.first)
            try first.send("last", to: Lamp.label)
            await first.close()
            #expect(try await other.waitUntilDisconnected().kind == .closedByPeer)
            #expect(labels.all == ["last"])

            let second = try await ends.connect(port)
            await service.stop(reason: "good night")
            #expect(try await second.waitUntilDisconnected().kind == .shutDown("good night"))
        }
    }

    @Test
    func aServiceDoesNotStartWithAStoreThatCannotBeRead() async throws {
        struct Corrupt: TrustStore {
            func read() throws -> TrustedPeers { throw SecurityError(.corrupt, "trust.json is corrupt") }
            func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result {
                throw SecurityError(.corrupt, "trust.json is corrupt")
            }
            func revision() -> TrustRevision { TrustRevision(1) }
        }
        let error = await #expect(throws: ElementalError.self) {
            try await withService {
                $0.security = .paired(identity: Ed25519Identity(), store: Corrupt())
            } _: { _, _ in
            }
        }
        #expect(error?.code == .listeningFailed)
        #expect(error?.description.contains("trust.json") == true)
    }
}

/// Changes of what a service trusts, while clients are connected.
struct RevocationTests {
    @Test(.backstop)
    func aRevokedClientIsDisconnectedAndNotAdmittedAgain() async throws {
        let ends = try PairedEnds()
        let other = Ed25519Identity()
        try ends.serviceStore.update {
            try $0.pin(
                TrustedClient(fingerprint: other.fingerprint, name: "other", role: .control, services: .all),
                own: ends.service.fingerprint)
        }
        try await ends.withService { service, port in
            let device = try await ends.connect(port)
            let unaffected = try await ends.connect(port) {
                $0.security = .required(identity: other, store: ends.clientStore)
            }
            try ends.trust(nil)
            #expect(try await device.waitUntilDisconnected().kind == .shutDown("this client is no longer paired"))
            #expect(await errorCode { try await ends.connect(port) } == .notPaired)
            #expect(try await unaffected.ping() > .zero)
            await unaffected.close()
        }
    }

    @Test
    func aClientWhoseRoleIsReducedConnectsAgainWithTheNewOne() async throws {
        let ends = try PairedEnds()
        try await ends.withService { service, port in
            let device = try await ends.connect(port) { $0.reconnection = Reconnecting.soon }
            try ends.trust(.observe)
            try await eventually { device.grantedRole == .observe && device.isConnected }
            await device.close()
        }
    }
}

/// Reconnection of encrypted connections.
struct SecureReconnectionTests {
    private static func service(at port: Int? = nil, _ security: ServiceSecurity) async throws -> ElementalService {
        try await Reconnecting.service(at: port, Lamp.all) { $0.security = security }
    }

    @Test
    func aServiceInThePlaceOfThePairedOneIsAFailedAttempt() async throws {
        let ends = try PairedEnds()
        let first = try await Self.service(ends.serviceSecurity)
        let port = try #require(first.port)
        let policy = Reconnecting.Noting(Array(repeating: .milliseconds(10), count: 10_000))
        let device = try await ends.connect(port) { $0.reconnection = policy }
        await first.stop(reason: "back soon")

        // Another key, and then a plain service.
        let impostors: [(ServiceSecurity, ElementalError.Code, text: String)] = [
            (.paired(identity: Ed25519Identity(), store: ends.serviceStore), .identityChanged, "Test"),
            // The code alone would also fit a port where nothing listens.
            (.open, .connectionFailed, "no encrypted connection came about"),
        ]
        for (security, code, text) in impostors {
            let impostor = try await Self.service(at: port, security)
            try await policy.asked.next("a failed attempt: \(code)") {
                $0.lastError?.code == code && $0.lastError?.message.contains(text) == true
            }
            #expect(impostor.devices.isEmpty)
            #expect(device.isReconnecting)
            await impostor.stop()
        }

        let last = try await Self.service(at: port, ends.serviceSecurity)
        try await eventually { device.isConnected }
        #expect(device.fingerprint == ends.service.fingerprint)
        await device.close()
        await last.stop()
    }

    @Test
    func aDeviceThatWasEncryptedStaysSo() async throws {
        let ends = try PairedEnds()
        let first = try await Self.service(ends.serviceSecurity)
        let port = try #require(first.port)
        let policy = Reconnecting.Noting(Array(repeating: .milliseconds(10), count: 10_000))
        let device = try await ends.connect(port) {
            $0.security = .automatic(identity: ends.client, store: ends.clientStore)
            $0.reconnection = policy
        }
        // The pin is gone; without it, a plain service would do for a new device.
        try ends.clientStore.update { $0.services = [] }
        await first.stop(reason: "back soon")
        let plain = try await Self.service(at: port, .open)
        try await policy.asked.next("a failed attempt") { $0.lastError?.code == .notPaired }
        #expect(plain.devices.isEmpty)
        await device.close()
        await plain.stop()
    }
}
