import ElementalSecurity
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Elemental

/// How a service notices changes of its trust store, with a manual clock.
@Suite(.backstop)
struct TrustWatchTests {
    private let own = Ed25519Identity()
    private let client = Ed25519Identity().fingerprint
    private let store = WatchedStore()
    private let loop = NIOAsyncTestingEventLoop()
    private let changes = Transcript<String>()

    private func grant(_ role: Role?) throws {
        try store.update { [own, client] peers in
            peers.revoke(client)
            guard let role else { return }
            try peers.pin(
                TrustedClient(fingerprint: client, name: "tester", role: role, services: ["test"]),
                own: own.fingerprint)
        }
    }

    /// Runs the body with a started watch.
    private func withWatch(_ body: (NIOLoopBound<TrustWatch>) async throws -> Void) async throws {
        let keys = ServiceKeys(
            identity: own, tls: try TLSIdentity(own), store: store, snapshot: try TrustWatch.Snapshot(store),
            limits: AcceptLimits(now: { .now() }))
        let watch = try await loop.executeInContext { [loop, changes] in
            let watch = TrustWatch(keys, service: "test", on: loop, logger: ServiceConfiguration().logger)
            watch.start { change in
                switch change {
                case .trust(let wasAvailable): changes.add(wasAvailable ? "trust" : "available")
                case .unavailable: changes.add("unavailable")
                case .identityLost: changes.add("identityLost")
                }
            }
            return NIOLoopBound(watch, eventLoop: loop)
        }
        try await body(watch)
        await loop.shutdownGracefully()
    }

    private func role(_ client: Fingerprint, _ watch: NIOLoopBound<TrustWatch>) async throws -> Role? {
        try await loop.executeInContext { watch.value.role(of: client) }
    }

    /// Advances the clock until the watch reads the revision again.
    private func look() async throws {
        let count = store.lookCount
        try await eventually("a look") {
            await loop.advanceTime(by: .seconds(1))
            return store.lookCount > count
        }
    }

    @Test
    func aChangeOfTheStoreTakesEffectAtTheNextLook() async throws {
        try grant(.control)
        try await withWatch { watch in
            #expect(try await role(client, watch) == .control)
            #expect(try await role(own.fingerprint, watch) == .admin)
            #expect(try await role(Ed25519Identity().fingerprint, watch) == nil)
            let count = store.lookCount
            try grant(.observe)
            await loop.advanceTime(by: .milliseconds(999))
            #expect(store.lookCount == count)
            #expect(try await role(client, watch) == .control)
            await loop.advanceTime(by: .milliseconds(1))
            try await changes.wait(for: 1)
            #expect(try await role(client, watch) == .observe)
            // Without a change nothing is reported.
            for _ in 0..<3 { try await look() }
            #expect(changes.count == 1)
            try grant(nil)
            try await look()
            try await changes.wait(for: 2)
            #expect(try await role(client, watch) == nil)
        }
    }

    @Test
    func aChangeOfItsOwnTakesEffectWithIt() async throws {
        try await withWatch { watch in
            let (own, client) = (own.fingerprint, client)
            try await loop.flatSubmit {
                watch.value.update {
                    try $0.pin(TrustedClient(fingerprint: client, name: "x", role: .admin, services: .all), own: own)
                }
            }.get()
            #expect(changes.count == 1)
            #expect(try await role(client, watch) == .admin)
        }
    }

    @Test
    func nobodyIsTrustedOnceTheStoreCannotBeRead() async throws {
        try grant(.control)
        try await withWatch { watch in
            store.fail()
            try await look()
            try await changes.wait(for: 1)
            #expect(try await role(client, watch) == nil)
            #expect(try await role(own.fingerprint, watch) == nil)
            // It is reported once.
            for _ in 0..<3 { try await look() }
            #expect(changes.all == ["unavailable"])
            store.recover()
            try await look()
            try await changes.wait(for: 2)
            #expect(changes.all == ["unavailable", "available"])
            #expect(try await role(client, watch) == .control)
        }
    }

    @Test
    func afterItsEndTheStoreIsLeftAlone() async throws {
        try await withWatch { watch in
            // One look, and none that begins behind it.
            let before = store.lookCount
            await loop.advanceTime(by: .seconds(1))
            try await eventually("a look") { store.lookCount > before }
            try await loop.executeInContext { watch.value.stop() }
            let count = store.lookCount
            try grant(.control)
            await loop.advanceTime(by: .seconds(100))
            #expect(store.lookCount == count)
            #expect(changes.count == 0)
        }
    }
}
