import Dispatch
import ElementalSecurity
import Foundation
import NIOCore
import Support
import TestSupport
import Testing
import Zeroconf

@testable import Elemental

/// An identity with a P-256 key, made by openssl.
struct P256Identity: Identity {
    let fingerprint: Fingerprint
    let certificate: [UInt8]
    let privateKey: IdentityKey

    static func make() async throws -> P256Identity {
        try await withFolder { folder in
            try await ChildProcess.run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                    "/CN=test", "-keyout", folder + "/key.pem", "-out", folder + "/certificate", "-outform", "DER",
                ])
            try await ChildProcess.run(
                "openssl",
                ["pkcs8", "-topk8", "-nocrypt", "-in", folder + "/key.pem", "-outform", "DER", "-out", folder + "/key"])
            func read(_ name: String) throws -> [UInt8] {
                [UInt8](try Data(contentsOf: URL(filePath: folder + "/" + name)))
            }
            let certificate = try read("certificate")
            return P256Identity(
                fingerprint: try PeerCertificate(certificate: certificate).fingerprint, certificate: certificate,
                privateKey: .pkcs8(try read("key")))
        }
    }
}

/// Clocks for a service's limits per second on connections without a session.
enum AcceptClock {
    /// A stopped clock: the total is what one second allows.
    static func stopped() -> @Sendable () -> NIODeadline {
        let now = NIODeadline.now()
        return { now }
    }

    /// A clock that stands still until it is let go.
    static func standing() -> (clock: @Sendable () -> NIODeadline, letGo: @Sendable () -> Void) {
        let start = NIODeadline.now()
        let delay = Locked<TimeAmount?>(nil)
        return (
            { delay.withLock { $0.map { .now() - $0 } ?? start } },
            { delay.withLock { $0 = .now() - start } }
        )
    }

    /// A clock that advances a second whenever it is read: the limits never apply.
    static func hurrying() -> @Sendable () -> NIODeadline {
        let now = Locked(NIODeadline.now())
        return {
            now.withLock { now in
                now = now + .seconds(1)
                return now
            }
        }
    }
}

/// A service and a client that are paired with each other.
struct PairedEnds {
    let service: any Identity
    let client: any Identity
    let serviceStore = InMemoryTrustStore()
    let clientStore = InMemoryTrustStore()

    /// A pair that tests do not change.
    static let shared = Task { try PairedEnds() }

    init(
        _ role: Role? = .control, service: any Identity = Ed25519Identity(), client: any Identity = Ed25519Identity()
    ) throws {
        self.service = service
        self.client = client
        try trust(role)
        try repin(service.fingerprint)
    }

    /// The service grants the client that role; none if `nil`.
    func trust(_ role: Role?) throws {
        try serviceStore.update { peers in
            peers.revoke(client.fingerprint)
            guard let role else { return }
            try peers.pin(
                TrustedClient(fingerprint: client.fingerprint, name: "tester", role: role, services: ["test"]),
                own: service.fingerprint)
        }
    }

    /// The client expects the service to have that key from now on.
    func repin(_ fingerprint: Fingerprint) throws {
        try clientStore.update { peers in
            peers.services = [
                TrustedService(fingerprint: fingerprint, service: "test", instance: "Test", role: .control)
            ]
        }
    }

    var serviceSecurity: ServiceSecurity { .paired(identity: service, store: serviceStore) }
    var clientSecurity: ClientSecurity { .required(identity: client, store: clientStore) }

    /// Connects the client, to a service that it has found by its name.
    func connect(
        _ port: Int, as instance: String = "Test", _ change: (inout ConnectOptions) -> Void = { _ in }
    ) async throws -> ElementalDevice {
        var options = ConnectOptions.patientAtTheEnd
        options.security = clientSecurity
        change(&options)
        return try await connectByName(port, instance, options: options)
    }

    func withService(
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: (_ service: ElementalService, _ port: Int) async throws -> Void
    ) async throws {
        try await ElementalTests.withService {
            $0.security = serviceSecurity
            change(&$0)
        } _: { service, port in
            try await body(service, port)
        }
    }

    /// Runs the service, with a client that is connected to it.
    func withPair(
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: (_ service: ElementalService, _ device: ElementalDevice) async throws -> Void
    ) async throws {
        try await withService {
            $0.limits.closeTimeout = Patience.wait
            change(&$0)
        } _: { service, port in
            let device = try await connect(port)
            try await body(service, device)
            await device.close()
        }
    }
}

/// A store that counts how often its revision is read, may be slow once, and may fail for good.
final class WatchedStore: TrustStore {
    private let store = InMemoryTrustStore()
    private let state = Locked((lookCount: 0, isSlow: false, isFailing: false))
    let hasRead = DispatchSemaphore(value: 0)
    let goesOn = DispatchSemaphore(value: 0)

    var lookCount: Int { state.withLock { $0.lookCount } }

    /// The next one who reads waits: what was read before a change is there only after it.
    func slowDown() { state.withLock { $0.isSlow = true } }

    func fail() { state.withLock { $0.isFailing = true } }

    func recover() { state.withLock { $0.isFailing = false } }

    func read() throws -> TrustedPeers {
        let peers = store.read()
        let (waits, fails) = state.withLock { state in
            defer { state.isSlow = false }
            return (state.isSlow, state.isFailing)
        }
        if fails { throw SecurityError(.corrupt, "trust.json is corrupt") }
        if waits {
            hasRead.signal()
            goesOn.wait()
        }
        return peers
    }

    func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result { try store.update(change) }

    func revision() -> TrustRevision {
        let isFailing = state.withLock { state in
            state.lookCount += 1
            return state.isFailing
        }
        return isFailing ? TrustRevision(-1) : store.revision()
    }
}

/// Connects to a service on loopback that Zeroconf would have found by its name.
func connectByName(
    _ port: Int, _ instance: String = "Test", service: String = "test", as name: String = "tester",
    elements: ElementCatalogue? = Lamp.all,
    options: ConnectOptions, configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
) async throws -> ElementalDevice {
    try await DiscoveredService.onLoopback(port, instance, service: service).connect(
        as: name, elements: elements, options: options, configure: configure)
}

extension DiscoveredService {
    /// A service on loopback as Zeroconf would have found it.
    ///
    /// - Parameter id: the short fingerprint that it claims.
    static func onLoopback(
        _ port: Int, _ instance: String = "Test", service: String = "test", _ policy: SecurityPolicy? = nil,
        id: String? = nil
    ) throws -> DiscoveredService {
        var txt = TXTRecord()
        if policy != nil || id != nil {
            var security = SecurityEntries(policy: policy ?? .pairedToControl)
            security.shortFingerprint = id
            txt = try ServiceTXT.record([:], service: service, instanceName: nil, security: security)
        }
        return DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: instance, type: try .tcp(service)), host: "localhost", port: port,
                txt: txt, addresses: [try #require(NetworkAddress(bytes: [127, 0, 0, 1], interfaceIndex: 0))]))
    }
}
