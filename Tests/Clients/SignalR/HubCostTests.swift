import NIOCore
import TestSupport
import Testing

@testable import SignalR

/// Bounds of what a hub can make a client buffer, and how often it can make it reconnect.
struct HubCostTests {
    private static let name = String(repeating: "x", count: 10_000)
    /// The client does not have such a method and says so, with its name.
    private static let question = #"{"type":4,"invocationId":"1","target":"\#(name)","arguments":[]}"#

    @Test
    func resultsThatAStatefulHubDoesNotAcknowledge() async throws {
        let server = try ScriptedServer()
        let connection = HubConnectionBuilder(url: server.url).withStatefulReconnect(bufferSize: 1000).build()
        async let script: ScriptedPeer = {
            try await server.negotiate(token: "secret", extra: #""useStatefulReconnect":true,"#)
            return try await server.hub(version: 2)
        }()
        try await connection.start()
        let hub = try await script
        let events = record(connection)
        // It reads the answers, and never says that it has them.
        let reading = Task { try? await hub.readToEnd() }
        for _ in 0..<200 { try? hub.say(Self.question) }
        #expect(try await events.next() == "closed: bufferOverflow")
        hub.closeOutput()
        _ = await reading.value
        await connection.stop()
    }

    @Test
    func callsThatSlowHandlersHold() async throws {
        let held = Transcript<CheckedContinuation<Void, Never>>()
        try await withHub(
            { $0.withOptions { $0.maximumUndeliveredSize = 50_000 } },
            prepare: { connection in
                connection.on("X") { (_: String) async -> Int in
                    await withCheckedContinuation { held.add($0) }
                    return 0
                }
            }
        ) { connection, hub, _ in
            let events = record(connection)
            let call = #"{"type":1,"invocationId":"1","target":"X","arguments":["\#(Self.name)"]}"#
            for _ in 0..<6 { try? hub.say(call) }
            #expect(try await events.next() == "closed: bufferOverflow")
            for _ in 0..<4 { try await held.next().resume() }
        }
    }

    @Test
    func aCallOutOfALargePieceKeepsOnlyItself() throws {
        let piece = ByteBuffer(repeating: 0x20, count: 1 << 20)
        let slice = try #require(piece.getSlice(at: 100, length: 50))
        let call = HubArguments(method: "A", headers: [:], codec: HubProtocol.json.codec, array: slice)
        #expect(call.array.storageCapacity >= 1 << 20)
        #expect(call.compacted.array.storageCapacity < 1000)
        #expect(call.compacted.array == slice)
    }

    /// The policy says "at once" each time.
    @Test
    func aHubThatEndsEachConnectionIsContactedLessAndLess() async throws {
        let server = try ScriptedServer()
        let connection = HubConnectionBuilder(url: server.url).withoutNegotiation()
            .withAutoReconnect(.exponential(first: .zero)).build()
        async let script: ContinuousClock.Duration = {
            let start = ContinuousClock.now
            for _ in 0..<5 { try await server.hub().closeOutput() }
            let last = try await server.hub()
            defer { last.closeOutput() }
            return ContinuousClock.now - start
        }()
        try await connection.start()
        // Three are made at once, the fifth after a second, the sixth after two more.
        #expect(try await script >= .seconds(3))
        await connection.stop()
    }
}
