import Dispatch
import ElementalSecurity
import Support
import TestSupport
import Testing

@testable import Elemental

/// What the doc comments promise to a cancelled task.
struct CancellationTests {
    /// Runs `body` in a task that is already cancelled.
    private func cancelled<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task {
            await Latch().wait()
            return try await body()
        }
        task.cancel()
        return try await task.value
    }

    @Test(arguments: ConnectionKind.allCases)
    func closingWaitsForTheEnd(over kind: ConnectionKind) async throws {
        try await withService(over: kind) { service, port in
            let received = Transcript<String>()
            service.onValue(of: Lamp.label) { received.add($0) }
            let device = try await connect(port, over: kind)
            try device.send("last", to: Lamp.label)
            let reason = try await cancelled {
                await device.close()
                return device.disconnectReason
            }
            #expect(reason?.kind == .closedHere)
            try await received.wait(for: 1)
        }
    }

    @Test
    func aScopeEndsWithItsConnection() async throws {
        try await withService { service, port in
            let scoped = Locked<ElementalDevice?>(nil)
            let task = Task {
                try await ElementalDevice.withConnection(
                    host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: .patientAtTheEnd
                ) { device in
                    scoped.withLock { $0 = device }
                    for await _ in device.values(of: Lamp.label) {}
                }
            }
            try await eventually { service.devices.count == 1 && scoped.withLock { $0 != nil } }
            task.cancel()
            try? await task.value
            #expect(scoped.withLock { $0?.disconnectReason?.kind } == .closedHere)
        }
    }

    @Test
    func waitsOfADeviceEnd() async throws {
        try await withPair { _, device in
            let codes = try await cancelled {
                [
                    await errorCode { try await device.sendWhenReady("x", to: Lamp.label) },
                    await errorCode { try await device.waitForRoom() },
                    await errorCode { try await device.waitUntilSent() },
                    await errorCode { try await device.ping() },
                    await errorCode { try await device.waitUntilDisconnected() },
                ]
            }
            #expect(codes == Array(repeating: .cancelled, count: 5))
            #expect(device.isConnected)
        }
    }

    @Test
    func aPairingIsBrokenOffWhileThePersonTypes() async throws {
        try await Strangers.with { ends, service, port, secrets in
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            let (code, asked) = (secrets.all[0], Latch())
            var options = ConnectOptions.patient
            options.security = ends.clientSecurity
            let task = Task { [options] in
                try await ServicePlace.address(host: "127.0.0.1", port: port).pair(as: "tester", options: options) {
                    _ in
                    asked.open()
                    await Latch().wait()
                    return code
                }
            }
            await asked.wait()
            task.cancel()
            #expect(await errorCode { try await task.value } == .cancelled)
            #expect(ends.clientStore.read().services.isEmpty && ends.serviceStore.read().clients.isEmpty)
            // It has cost no try.
            _ = try await Strangers.pair(ends, port, with: code)
        }
    }

    @Test
    func aPairingWithASilentServiceIsBrokenOff() async throws {
        let (listener, port) = try RawSocket.listen()
        let ends = try PairedEnds(nil)
        let task = Task { try await Strangers.pair(ends, port, with: nil) }
        let silent = try await listener.accept()
        task.cancel()
        #expect(await errorCode { try await task.value } == .cancelled)
        _ = try await silent.readToEnd()
    }

    @Test
    func aPairingThatIsBeingStoredGoesOn() async throws {
        try await Strangers.with { ends, service, port, secrets in
            try service.openPairing(for: .seconds(3600))
            try await secrets.wait(for: 1)
            let store = SlowStore()
            var options = ConnectOptions.patient
            options.security = .required(identity: ends.client, store: store)
            let task = Task { [options, code = secrets.all[0]] in
                try await ServicePlace.address(host: "127.0.0.1", port: port).pair(as: "tester", options: options) {
                    _ in
                    code
                }
            }
            await store.isStoring.wait()
            task.cancel()
            store.goesOn.signal()
            let service = try await task.value
            #expect(store.read().services == [service])
            #expect(ends.serviceStore.read().clients.map(\.fingerprint) == [ends.client.fingerprint])
        }
    }
}

/// A store that takes its time until it is told to go on.
private final class SlowStore: TrustStore {
    private let store = InMemoryTrustStore()
    let isStoring = Latch()
    let goesOn = DispatchSemaphore(value: 0)

    func read() -> TrustedPeers { store.read() }

    func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result {
        isStoring.open()
        goesOn.wait()
        defer { goesOn.signal() }
        return try store.update(change)
    }

    func revision() -> TrustRevision { store.revision() }
}
