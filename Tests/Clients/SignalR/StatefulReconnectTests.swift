import TestSupport
import Testing

@testable import SignalR

/// Resumed connections, as observed with ASP.NET Core 10.
struct StatefulReconnectTests {
    private static let stateful = #""useStatefulReconnect":true,"#

    static func withStatefulHub(
        bufferSize: Int = 100_000, _ change: (HubConnectionBuilder) -> HubConnectionBuilder = { $0 },
        prepare: (HubConnection) -> Void = { _ in },
        _ body: (HubConnection, ScriptedPeer, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer()
        let builder = patientHub(url: server.url).withStatefulReconnect(bufferSize: bufferSize)
        let connection = change(builder).build()
        prepare(connection)
        async let script: ScriptedPeer = {
            let request = try await server.negotiate(token: "secret", extra: stateful)
            #expect(request.target == "/hub/negotiate?negotiateVersion=1&useStatefulReconnect=true")
            return try await server.hub(version: 2)
        }()
        try await connection.start()
        let hub = try await script
        try await carryOut {
            try await body(connection, hub, server)
        } finally: {
            hub.closeOutput()
            await connection.stop()
        }
    }

    /// Accepts the WebSocket of a resumed connection, which has no handshake.
    private func again(_ server: ScriptedServer) async throws -> ScriptedPeer {
        let peer = try await server.accept()
        #expect(try await peer.upgrade().target == "/hub?id=secret")
        return peer
    }

    @Test
    func callsSurviveABreak() async throws {
        let said = Transcript<Int>()
        try await Self.withStatefulHub(prepare: { $0.on("N") { (number: Int) in said.add(number) } }) {
            connection, hub, server in
            let events = record(connection)
            async let first: Int = connection.invoke("A")
            #expect(try await hub.message() == #"{"type":1,"invocationId":"1","target":"A","arguments":[]}"#)
            try hub.say(#"{"type":8,"sequenceId":1}"#)
            try hub.say(#"{"type":1,"target":"N","arguments":[1]}"#, #"{"type":1,"target":"N","arguments":[2]}"#)
            #expect(try await said.next() == 1)
            #expect(try await said.next() == 2)
            #expect(try await hub.message() == #"{"type":8,"sequenceId":2}"#)
            async let second: Int = connection.invoke("B")
            #expect(try await hub.message() == #"{"type":1,"invocationId":"2","target":"B","arguments":[]}"#)
            hub.closeOutput()

            let next = try await again(server)
            // Its first message that is not acknowledged, and that again.
            #expect(try await next.message() == #"{"type":9,"sequenceId":2}"#)
            #expect(try await next.message() == #"{"type":1,"invocationId":"2","target":"B","arguments":[]}"#)
            // A message before the Sequence comes again behind it; the Sequence is of the first that the server has not
            // seen acknowledged, here one that came before the break.
            try next.say(#"{"type":1,"target":"N","arguments":[3]}"#, #"{"type":6}"#)
            try next.say(
                #"{"type":9,"sequenceId":2}"#, #"{"type":1,"target":"N","arguments":[2]}"#,
                #"{"type":1,"target":"N","arguments":[3]}"#, #"{"type":3,"invocationId":"1","result":10}"#,
                #"{"type":3,"invocationId":"2","result":20}"#)
            #expect(try await said.next() == 3)
            #expect(try await first == 10)
            #expect(try await second == 20)
            #expect(said.all == [1, 2, 3])
            #expect(try await next.message() == #"{"type":8,"sequenceId":5}"#)
            #expect(events.all.isEmpty)
            #expect(connection.state == .connected)
            next.closeOutput()
            // And once more, with nothing to say again but that.
            let third = try await again(server)
            #expect(try await third.message() == #"{"type":9,"sequenceId":2}"#)
            #expect(try await third.message() == #"{"type":1,"invocationId":"2","target":"B","arguments":[]}"#)
            async let sent: Void = connection.send("C")
            #expect(try await third.message() == #"{"type":1,"target":"C","arguments":[]}"#)
            try await sent
            third.closeOutput()
            await connection.stop()
        }
    }

    /// A server whose buffer is full waits for it.
    @Test
    func aLostAcknowledgementIsRepeated() async throws {
        let said = Transcript<Int>()
        try await Self.withStatefulHub(prepare: { $0.on("N") { (number: Int) in said.add(number) } }) {
            connection, hub, server in
            try hub.say(#"{"type":1,"target":"N","arguments":[1]}"#)
            #expect(try await said.next() == 1)
            // Sent, but not received.
            #expect(try await hub.message() == #"{"type":8,"sequenceId":1}"#)
            hub.closeOutput()
            let next = try await again(server)
            #expect(try await next.message() == #"{"type":9,"sequenceId":1}"#)
            try next.say(#"{"type":9,"sequenceId":1}"#, #"{"type":1,"target":"N","arguments":[1]}"#)
            #expect(try await next.message() == #"{"type":8,"sequenceId":1}"#)
            #expect(said.all == [1])
            next.closeOutput()
            await connection.stop()
        }
    }

    @Test
    func whatIsSentDuringABreakIsSentAfterIt() async throws {
        try await Self.withStatefulHub { connection, hub, server in
            hub.closeOutput()
            let peer = try await server.accept()
            let request = try await peer.request()
            try await connection.send("A", 1)
            try await connection.send("A", 2)
            try peer.upgrade(request)
            #expect(try await peer.message() == #"{"type":9,"sequenceId":1}"#)
            for number in 1...2 {
                #expect(try await peer.message() == #"{"type":1,"target":"A","arguments":[\#(number)]}"#)
            }
            peer.closeOutput()
            await connection.stop()
        }
    }

    @Test
    func aServerThatForgotTheConnectionEndsIt() async throws {
        try await Self.withStatefulHub { connection, hub, server in
            let events = record(connection)
            hub.closeOutput()
            let peer = try await server.accept()
            _ = try await peer.request()
            try peer.respond("404 Not Found")
            #expect(try await events.next() == "closed: connectionLost")
        }
    }

    @Test
    func aForgottenConnectionIsReestablishedIfAskedFor() async throws {
        try await Self.withStatefulHub {
            $0.withAutoReconnect()
        } _: { connection, hub, server in
            let events = record(connection)
            async let call = signalRError { try await connection.invoke("A") }
            _ = try await hub.message()
            hub.closeOutput()
            let peer = try await again(server)
            peer.closeOutput()
            let forgetful = try await server.accept()
            _ = try await forgetful.request()
            try forgetful.respond("404 Not Found")
            #expect(await call?.code == .connectionLost)
            try await server.negotiate(token: "second", extra: Self.stateful)
            let second = try await server.hub(version: 2)
            #expect(try await events.next() == "will reconnect: connectionLost")
            #expect(try await events.next() == "did reconnect")
            // Numbers begin anew with it.
            try await connection.send("B")
            #expect(try await second.message() == #"{"type":1,"target":"B","arguments":[]}"#)
            try second.say(#"{"type":8,"sequenceId":1}"#)
            second.closeOutput()
            let third = try await server.accept()
            #expect(try await third.upgrade().target == "/hub?id=second")
            #expect(try await third.message() == #"{"type":9,"sequenceId":2}"#)
            third.closeOutput()
            await connection.stop()
        }
    }

    @Test
    func aSequenceOfMessagesThatNeverCameIsAViolation() async throws {
        try await Self.withStatefulHub { connection, hub, server in
            let events = record(connection)
            hub.closeOutput()
            let peer = try await again(server)
            try peer.say(#"{"type":9,"sequenceId":2}"#)
            #expect(try await events.next() == "closed: protocolViolation")
        }
    }

    @Test
    func sendersWaitWhenTooMuchIsNotAcknowledged() async throws {
        try await Self.withStatefulHub(bufferSize: 1000) { connection, hub, _ in
            let sent = Transcript<Int>()
            let text = String(repeating: "x", count: 400)
            let task = Task {
                for number in 0..<4 {
                    try await connection.send("A", text)
                    sent.add(number)
                }
            }
            for _ in 0..<3 { _ = try await hub.message() }
            for number in 0..<3 { #expect(try await sent.next() == number) }
            // The fourth waits; cancelled, a waiting send goes at once.
            let other = Task { try await connection.send("B") }
            other.cancel()
            #expect(await signalRError { try await other.value }?.code == .cancelled)
            #expect(sent.all == [0, 1, 2])
            try hub.say(#"{"type":8,"sequenceId":2}"#)
            #expect(try await hub.message().contains(text))
            #expect(try await sent.next() == 3)
            try await task.value
        }
    }

    @Test
    func withoutTheServerItIsAnOrdinaryConnection() async throws {
        try await withHub({ $0.withStatefulReconnect() }) { connection, hub, _ in
            let events = record(connection)
            hub.closeOutput()
            let ending = try await events.next()
            #expect(ending == "closed: connectionLost")
        }
    }
}
