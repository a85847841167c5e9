import NIOCore
import Support
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
        try await StatefulReconnectTests.withStatefulHub(bufferSize: 1000) { connection, hub, _ in
            let events = record(connection)
            // It reads the answers, and never says that it has them.
            let reading = Task { try? await hub.readToEnd() }
            for _ in 0..<200 { try? hub.say(Self.question) }
            let end = try await events.next()
            #expect(end == "closed: bufferOverflow")
            hub.closeOutput()
            _ = await reading.value
        }
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

    /// The hub sends a small call together with something large, and the call waits for long.
    @Test
    func aCallOutOfALargePieceKeepsOnlyItself() async throws {
        let held = Transcript<HubArguments>()
        let answer: MethodHandlers.Responder = { arguments in
            held.add(arguments)
            return ByteBuffer(string: "0")
        }
        try await withHub(prepare: { _ = $0.handlers.add("X", answer) }) { _, hub, _ in
            let filler = #"{"type":1,"target":"Y","arguments":["\#(String(repeating: "x", count: 600_000))"]}"#
            try hub.say(filler, #"{"type":1,"target":"X","arguments":["small"]}"#, filler)
            let call = try await held.next()
            #expect(try call.decode(String.self, at: 0) == "small")
            #expect(call.array.storageCapacity < 1000, "it holds all that came with it")
        }
    }

    /// The policy says "at once" each time.
    @Test(
        arguments: [(seconds: 1, pauses: [1, 2, 4]), (seconds: 10, pauses: [])] as [(seconds: Int64, pauses: [Int])])
    func aHubThatEndsEachConnectionIsContactedLessAndLess(_ seconds: Int64, _ pauses: [Int]) async throws {
        let server = try ScriptedServer()
        let now = Locked(NIODeadline.uptimeNanoseconds(0))
        let waits = Transcript<Duration>()
        let connection = patientHub(url: server.url).withoutNegotiation()
            .withAutoReconnect(.exponential(first: .zero))
            .withOptions {
                $0.now = { now.withLock { $0 } }
                $0.pause = { duration, _ in waits.add(duration) }
            }.build()
        let events = record(connection)
        async let started: Void = connection.start()
        for round in 0..<7 {
            let hub = try await server.hub()
            if round == 0 { try await started } else { try await events.next { $0 == "did reconnect" } }
            // That is how long each connection lasts.
            now.withLock { $0 = $0 + .seconds(seconds) }
            hub.closeOutput()
            try await events.next { $0 == "will reconnect: connectionLost" }
        }
        await connection.stop()
        // The first three losses are forgiven.
        #expect(Array(waits.all.prefix(3)) == pauses.map { Duration.seconds($0) })
    }
}
