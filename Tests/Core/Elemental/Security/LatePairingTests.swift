import ElementalSecurity
import ElementalWire
import Support
import TestSupport
import Testing

@testable import Elemental

/// A service is paired while it is connected to.
@Suite(.backstop)
struct LatePairingTests {
    /// Runs a service that everybody may read, with a client that is not paired.
    private static func with(
        _ body: (_ ends: PairedEnds, _ port: Int, _ pair: (Role) async throws -> Void) async throws -> Void
    ) async throws {
        let ends = try PairedEnds(nil)
        try ends.clientStore.update { $0.services = [] }
        try await withService {
            $0.security = .pairedToControl(identity: ends.service, store: ends.serviceStore)
            $0.acceptClock = AcceptClock.hurrying()
        } _: { service, port in
            let secrets = Transcript<PairingSecret>()
            service.onEvent { event in
                if case .pairing(.opened(let secret, _, _)) = event { secrets.add(secret) }
            }
            try await body(ends, port) { role in
                let count = secrets.all.count
                try service.openPairing(role: role)
                try await secrets.wait(for: count + 1)
                _ = try await Strangers.pair(ends, port, role: role, with: secrets.all[count])
            }
        }
    }

    private static func connect(
        _ port: Int, _ security: ClientSecurity, _ policy: (any ReconnectionPolicy)? = nil
    ) async throws -> ElementalDevice {
        try await ElementalTests.connect(
            port,
            with: {
                $0.security = security
                $0.reconnection = policy
            })
    }

    /// The same device is encrypted and may set, with a policy to reconnect and without one.
    @Test
    func whatIsPairedDuringAConnectionTakesEffect() async throws {
        try await Self.with { ends, port, pair in
            let security = ClientSecurity.automatic(identity: ends.client, store: ends.clientStore)
            let devices = [
                try await Self.connect(port, security), try await Self.connect(port, security, .forever()),
            ]
            let reasons = Transcript<String>()
            for device in devices {
                #expect(device.fingerprint == nil)
                device.onEvent { event in
                    if case .willReconnect(let attempt, _) = event { reasons.add(attempt.reason.code) }
                }
            }
            for role in [Role.observe, .control] {
                try await pair(role)
                for device in devices {
                    try await eventually("\(role)") { device.isConnected && device.grantedRole == role }
                    #expect(device.fingerprint == ends.service.fingerprint)
                }
            }
            #expect(reasons.all == Array(repeating: "pairingChanged", count: 4))
            for device in devices { await device.close() }
        }
    }

    /// A client that has no identity yet gets it when another program of its user pairs.
    @Test
    func anIdentityThatIsMadeDuringAConnectionIsUsed() async throws {
        try await Self.with { ends, port, pair in
            let isMade = Locked(false)
            let device = try await Self.connect(
                port,
                .automatic {
                    isMade.withLock { $0 } ? (ends.client, ends.clientStore) : nil
                })
            try await pair(.control)
            #expect(device.fingerprint == nil)
            isMade.withLock { $0 = true }
            try await eventually { device.isConnected && device.grantedRole == .control }
            await device.close()
        }
    }

    /// What is connected to by host and port is not the service that was paired at another port of its host.
    @Test
    func aNeighbourOfAPairedServiceStaysConnected() async throws {
        try await Self.with { ends, port, pair in
            try await withService { _, otherPort in
                let security = ClientSecurity.automatic(identity: ends.client, store: ends.clientStore)
                let other = try await Self.connect(otherPort, security)
                let device = try await Self.connect(port, security)
                try await pair(.control)
                try await eventually { device.isConnected && device.grantedRole == .control }
                #expect(other.isConnected && other.fingerprint == nil)
                await other.close()
                await device.close()
            }
        }
    }

    /// A service that grants less than the pin says is not connected to again and again.
    @Test
    func aPairingThatIsUsedIsNoNews() throws {
        let key = Ed25519Identity().fingerprint
        let target = ConnectionTarget(hosts: ["192.0.2.7"], port: 5000)
        func pin(_ role: Role, port: UInt16 = 5000) -> TrustedService {
            TrustedService(
                fingerprint: key, service: "test", instance: "Test", hosts: [.init("192.0.2.7", port: port)], role: role
            )
        }
        func gives(_ pin: TrustedService, key: Fingerprint?, since old: [TrustedService]) -> Bool {
            ClientKeys.Trust(
                peers: TrustedPeers(services: [pin]), own: Ed25519Identity().fingerprint
            ).gives(target, key: key, granted: .observe, wanted: .control, since: old)
        }
        #expect(gives(pin(.control), key: nil, since: []))
        #expect(gives(pin(.control), key: key, since: [pin(.observe)]))
        #expect(!gives(pin(.control), key: key, since: [pin(.control)]))
        #expect(!gives(pin(.control), key: nil, since: [pin(.control)]))
        #expect(!gives(pin(.observe), key: key, since: []))
        // Another service of the host.
        #expect(!gives(pin(.control, port: 5001), key: nil, since: []))
    }
}
