import Dispatch
import Elemental
import ElementalFollowing
import ElementalSecurity
import Support
import TestSupport
import Testing

/// A store that tells what state it is in when it may.
private final class SlowStore: TrustStore {
    private let store: InMemoryTrustStore
    private let asked = Locked(false)
    let goesOn = DispatchSemaphore(value: 0)

    init(_ store: InMemoryTrustStore) { self.store = store }

    /// Whether somebody waits, or has waited, for the state.
    var isAsked: Bool { asked.withLock { $0 } }

    func read() -> TrustedPeers { store.read() }

    func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result { try store.update(change) }

    func revision() -> TrustRevision {
        let revision = store.revision()
        asked.withLock { $0 = true }
        goesOn.wait()
        goesOn.signal()
        return revision
    }
}

/// Services that do not admit the client, or that the client does not accept.
@Suite(.backstop)
struct FollowerRefusalTests {
    private let service = Ed25519Identity()
    private let client = Ed25519Identity()
    private let serviceStore = InMemoryTrustStore()
    private let clientStore = InMemoryTrustStore()

    private var paired: ServiceSecurity { .paired(identity: service, store: serviceStore) }

    private func use(_ options: inout FollowerOptions) {
        options.connect.security = .automatic(identity: client, store: clientStore)
    }

    @Test
    func aPairingWithTheCodeConnects() async throws {
        let service = try await startService(security: paired)
        try await follow(service, use) { key, sessions, log in
            try await log.wait(for: "turnedAway", of: key)
            await #expect { try await sessions.pair(key, code: "1234567") } throws: {
                ($0 as? ElementalError)?.code == .wrongCode
            }
            let code = try await service.code()
            try await sessions.pair(key, code: code)
            try await log.wait(for: "connected", of: key)
            // The store, in which the pairing is, may have been looked at before the pairing was over: then it is connected
            // to once more.
            try await eventually("it is connected with the role") { sessions.device(of: key)?.grantedRole == .control }
            let states = log.states(of: key).filter { $0 != "connecting" }
            #expect(states.first == "turnedAway" && Set(states.dropFirst()) == ["connected"], "\(states)")
        }
    }

    @Test
    func aPairingMadeElsewhereConnects() async throws {
        let service = try await startService(security: paired)
        try await follow(service, use) { key, _, log in
            try await log.wait(for: "turnedAway", of: key)
            try await pair(elsewhere: service)
            try await log.wait(for: "connected", of: key)
        }
    }

    /// What is stored while the first attempt is refused is noticed, however late the store is looked at for the first time.
    @Test
    func theStoreIsLookedAtBeforeTheFirstAttempt() async throws {
        try trustClient()
        let service = try await startService(security: paired)
        let slow = SlowStore(clientStore)
        try await follow(service) { options in
            options.connect.security = .automatic(identity: client, store: slow)
        } _: { key, _, log in
            defer { slow.goesOn.signal() }
            try await eventually("a look at the store") { slow.isAsked }
            // Nothing is tried before that: in the meantime others are refused, one after the other.
            for _ in 0..<3 {
                try await withFollower([service.subject]) {
                    $0.connect.security = .automatic(identity: Ed25519Identity(), store: InMemoryTrustStore())
                } _: { _, others in
                    try await others.wait(for: "turnedAway", of: key)
                }
            }
            #expect(log.events.isEmpty, "\(log.states(of: key))")
            try trustService(at: try #require(service.port))
            slow.goesOn.signal()
            try await log.wait(for: "connected", of: key)
        }
    }

    /// Of a service that lets everybody read, no attempt is refused.
    @Test
    func whatWasReadPlainIsSetAsSoonAsItIsPaired() async throws {
        let service = try await startService(security: .pairedToControl(identity: service, store: serviceStore))
        let other = try await startService()
        try await withFollower([service.subject, other.subject], use) { sessions, log in
            for service in [service, other] { try await log.wait(for: "connected", of: service.key) }
            #expect(sessions.device(of: service.key)?.fingerprint == nil)
            let plain = sessions.device(of: other.key)
            try await pair(elsewhere: service)
            try await eventually("a connection with the role") {
                sessions.device(of: service.key)?.grantedRole == .control
            }
            // One that was not paired stays as it is.
            #expect(sessions.device(of: other.key) == plain && log.connections(of: other.key).count == 1)
        }
        await other.stop()
        await service.stop()
    }

    @Test
    func aPairingForMoreIsUsedAtOnce() async throws {
        let service = try await startService(security: .pairedToControl(identity: service, store: serviceStore))
        try await pair(elsewhere: service, role: .observe)
        try await follow(service, use) { key, sessions, log in
            try await eventually("a connection that reads") { sessions.device(of: key)?.grantedRole == .observe }
            try await pair(elsewhere: service)
            try await eventually("a connection that sets") { sessions.device(of: key)?.grantedRole == .control }
        }
    }

    @Test
    func whoeverAsksIsTriedAgain() async throws {
        try trustClient()
        let service = try await startService(security: paired)
        try await follow(service) { options in
            use(&options)
            options.trustInterval = .seconds(3600)
        } _: { key, sessions, log in
            try await log.wait(for: "turnedAway", of: key)
            try trustService(at: try #require(service.port))
            sessions.retry(key)
            try await log.wait(for: "connected", of: key)
        }
    }

    /// Another program with the client's identity pairs.
    private func pair(elsewhere service: ElementalService, role: Role = .control) async throws {
        let code = try await service.code(role: role)
        var options = ConnectOptions()
        options.timeout = Patience.wait
        options.security = .automatic(identity: client, store: clientStore)
        _ = try await ServicePlace.address(host: "127.0.0.1", port: try #require(service.port)).pair(
            as: "elsewhere", role: role, options: options
        ) { _ in PairingSecret(code: code) }
    }

    /// The service trusts the client. Before it starts: it looks once a second.
    private func trustClient(_ role: Role = .control) throws {
        try serviceStore.update { peers in
            try peers.pin(
                TrustedClient(fingerprint: client.fingerprint, name: "tester", role: role, services: ["test"]),
                own: service.fingerprint)
        }
    }

    /// The client trusts the service.
    private func trustService(at port: Int) throws {
        try clientStore.update { peers in
            peers.services = [
                TrustedService(
                    fingerprint: service.fingerprint, service: "test", instance: "127.0.0.1:\(port)",
                    hosts: [TrustedService.Host("127.0.0.1", port: UInt16(port))], role: .control)
            ]
        }
    }

    @Test
    func theRoleIsTheOneAskedForUntilAPairingGrantsMore() async throws {
        try trustClient()
        let service = try await startService(security: .pairedToControl(identity: service, store: serviceStore))
        try trustService(at: try #require(service.port))
        let asked = Locked<[ServicePlace]>([])
        try await follow(service) { options in
            use(&options)
            options.role = { place in
                asked.withLock { $0.append(place) }
                return .observe
            }
        } _: { key, sessions, log in
            try await log.wait(for: "connected", of: key)
            #expect(sessions.device(of: key)?.grantedRole == .observe)
            #expect(log.connections(of: key).last?.catalogue.allSatisfy { $0.access == .read } == true)
            #expect(asked.withLock { $0 }.count == 1)
            let code = try await service.code()
            try await sessions.pair(key, code: code)
            try await eventually { log.connections(of: key).last?.device.grantedRole == .control }
            #expect(log.connections(of: key).last?.catalogue[id: 1]?.access.contains(.write) == true)
            #expect(log.connections(of: key).count == 2)
        }
    }

    @Test
    func aRevokedClientIsToldSo() async throws {
        try trustClient()
        let service = try await startService(security: paired)
        try trustService(at: try #require(service.port))
        try await follow(service, use) { key, sessions, log in
            try await log.wait(for: "connected", of: key)
            try serviceStore.update { _ = $0.revoke(client.fingerprint) }
            try await log.wait(for: "notPaired", of: key)
            #expect(sessions.device(of: key) == nil)
            #expect(log.refusals(of: key).map(\.code) == ["notPaired"])
        }
    }

    @Test
    func anotherIdentityIsNotSpokenToUntilItIsPaired() async throws {
        let port = try PortLease.port()
        try trustClient()
        let first = try await startService(port: port, security: paired)
        let key = first.key
        try trustService(at: port)
        try await withFollower([first.subject], use) { sessions, log in
            try await log.wait(for: "connected", of: key)
            await first.stop()
            let second = try await startService(
                port: port, security: .paired(identity: Ed25519Identity(), store: InMemoryTrustStore()))
            try await log.wait(for: "identityChanged", of: key)
            // The user forgets the old one.
            try clientStore.update { $0.services = [] }
            try await log.wait(for: "turnedAway", of: key)
            let code = try await second.code()
            try await sessions.pair(key, code: code)
            try await log.wait(for: "connected", of: key, 2)
            await second.stop()
        }
    }

    /// Nobody vouches for what is said before the connection is ready: all words lead to the same state and retries.
    @Test(arguments: [
        "refused: this service requires pairing; pair this client: elemental pair HOST:PORT", "go away", "x",
    ])
    func theWordsOfARefusalDecideNothing(_ words: String) async throws {
        let (listener, port) = try RawSocket.listen()
        let key = ServiceKey(host: "127.0.0.1", port: port)
        try await withFollower([.address(host: "127.0.0.1", port: port)]) {
            use(&$0)
            $0.firstRetry = .milliseconds(1)
        } _: { _, log in
            for _ in 0..<2 {
                let peer = try await listener.accept()
                let text = Array(words.utf8)
                try peer.write([0xFD, UInt8(text.count), 0, 0, 0] + text)
                peer.closeOutput()
                _ = try? await peer.readToEnd()
            }
            try await log.wait(for: "turnedAway", of: key)
            #expect(log.refusals(of: key).isEmpty)
            #expect(clientStore.read().services.isEmpty)
        }
    }

    @Test
    func anOlderServiceTellsNoElements() async throws {
        let (listener, port) = try RawSocket.listen()
        let key = ServiceKey(host: "127.0.0.1", port: port)
        let serving = Task {
            let peer = try await listener.accept()
            // The UDP identifier is all that it says.
            try peer.write([0xFF, 1, 0, 0, 0, 7])
            _ = try await peer.readToEnd()
        }
        try await withFollower([.address(host: "127.0.0.1", port: port)]) {
            $0.helloTime = .milliseconds(50)
        } _: { sessions, log in
            try await log.wait(for: "noElements", of: key)
            #expect(try #require(log.refusals(of: key).first).message.hasPrefix("sends no catalogue"))
            // And it is not kept waiting.
            _ = try await serving.value
            #expect(sessions.device(of: key) == nil)
        }
    }
}
