import NIOCore
import TestSupport
import Testing

@testable import SignalR

/// Server-sent events and long polling, against a scripted server.
struct HTTPTransportTests {
    private func connection(_ server: ScriptedServer, _ kind: TransportKind) -> HubConnection {
        patientHub(url: server.url).withTransports(kind).withAccessToken { "t" }.build()
    }

    /// Answers the next POST and returns its body.
    private func post(_ peer: ScriptedPeer) async throws -> String {
        let request = try await peer.request()
        #expect(request.method == "POST")
        #expect(request.target == "/hub?id=token")
        #expect(request.headers["authorization"] == "Bearer t")
        try peer.respond()
        return request.text
    }

    @Test
    func serverSentEvents() async throws {
        let server = try ScriptedServer()
        let connection = connection(server, .serverSentEvents)
        let events = record(connection)
        async let script: (ScriptedPeer, ScriptedPeer) = {
            try await server.negotiate(transports: ["ServerSentEvents"])
            let stream = try await server.accept()
            let request = try await stream.request()
            #expect(request.method == "GET")
            #expect(request.target == "/hub?id=token")
            #expect(request.headers["accept"] == "text/event-stream")
            try stream.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:\r\n")
            let posts = try await server.accept()
            #expect(try await post(posts) == "{\"protocol\":\"json\",\"version\":1}\u{1e}")
            try stream.write("data: {}\u{1e}\r\n\r\n")
            return (stream, posts)
        }()
        try await connection.start()
        #expect(connection.transport == .serverSentEvents)
        let (stream, posts) = try await script
        async let answer: String = connection.invoke("A")
        #expect(try await post(posts) == "{\"type\":1,\"invocationId\":\"1\",\"target\":\"A\",\"arguments\":[]}\u{1e}")
        try stream.write("data: {\"type\":3,\ndata:\"invocationId\":\"1\",\r\ndata: \"result\":\"x\"}\u{1e}\n\n")
        #expect(try await answer == "x")
        // Messages sent during a request are combined in the next one.
        try await connection.send("B", 1)
        let request = try await posts.request()
        #expect(request.text == "{\"type\":1,\"target\":\"B\",\"arguments\":[1]}\u{1e}")
        try await connection.send("B", 2)
        try await connection.send("B", 3)
        try posts.respond()
        #expect(
            try await post(posts)
                == "{\"type\":1,\"target\":\"B\",\"arguments\":[2]}\u{1e}{\"type\":1,\"target\":\"B\",\"arguments\":[3]}\u{1e}"
        )
        async let stopped: Void = connection.stop()
        #expect(try await post(posts) == "{\"type\":7}\u{1e}")
        await stopped
        try await stream.readToEnd()
        #expect(events.all == ["opened", "closed: -"])
    }

    @Test
    func longPolling() async throws {
        let server = try ScriptedServer()
        let connection = connection(server, .longPolling)
        let events = record(connection)
        async let script: (ScriptedPeer, ScriptedPeer) = {
            try await server.negotiate(transports: ["LongPolling"])
            let polls = try await server.accept()
            try await poll(polls, "")
            let posts = try await server.accept()
            #expect(try await post(posts) == "{\"protocol\":\"json\",\"version\":1}\u{1e}")
            try await poll(polls, "{}\u{1e}")
            return (polls, posts)
        }()
        try await connection.start()
        #expect(connection.transport == .longPolling)
        let (polls, posts) = try await script
        async let answer: String = connection.invoke("A")
        #expect(try await post(posts) == "{\"type\":1,\"invocationId\":\"1\",\"target\":\"A\",\"arguments\":[]}\u{1e}")
        try await poll(polls, "{\"type\":3,\"invocationId\"")
        try await poll(polls, ":\"1\",\"result\":\"x\"}\u{1e}")
        #expect(try await answer == "x")
        async let stopped: Void = connection.stop()
        #expect(try await post(posts) == "{\"type\":7}\u{1e}")
        let farewell = try await server.accept()
        let request = try await farewell.request()
        #expect(request.method == "DELETE")
        #expect(request.target == "/hub?id=token")
        #expect(request.headers["authorization"] == "Bearer t")
        try farewell.respond("202 Accepted")
        await stopped
        #expect(events.all == ["opened", "closed: -"])
    }

    /// Opens a connection up to the client's request over `incoming`, and what it posts first.
    private func openings(
        _ server: ScriptedServer, _ kind: TransportKind, _ headers: String = ""
    ) async throws -> (incoming: ScriptedPeer, posts: ScriptedPeer) {
        try await server.negotiate(transports: [kind.rawValue])
        let incoming = try await server.accept()
        _ = try await incoming.request()
        if kind == .serverSentEvents { try incoming.write("HTTP/1.1 200 OK\r\n\(headers)\r\n") }
        return (incoming, try await server.accept())
    }

    /// Opens a connection to its end.
    private func opened(
        _ server: ScriptedServer, _ kind: TransportKind, isChunked: Bool = false
    ) async throws -> (incoming: ScriptedPeer, posts: ScriptedPeer) {
        let (incoming, posts) = try await openings(server, kind, isChunked ? "Transfer-Encoding: chunked\r\n" : "")
        #expect(try await post(posts) == "{\"protocol\":\"json\",\"version\":1}\u{1e}")
        switch (kind, isChunked) {
        case (.serverSentEvents, true): try incoming.write("9\r\ndata: {}\u{1e}\r\n2\r\n\n\n\r\n")
        case (.serverSentEvents, false): try incoming.write("data: {}\u{1e}\n\n")
        default: try incoming.respond("200 OK", [], "{}\u{1e}")
        }
        return (incoming, posts)
    }

    private func poll(_ peer: ScriptedPeer, _ answer: String) async throws {
        let request = try await peer.request()
        #expect(request.method == "GET")
        #expect(request.target == "/hub?id=token")
        try peer.respond("200 OK", [], answer)
    }

    /// As aiosignalr does it.
    @Test
    func aFirstPollThatWaitsForAMessageDoesNotBlock() async throws {
        let server = try ScriptedServer()
        let connection = connection(server, .longPolling)
        async let script = opened(server, .longPolling)
        try await connection.start()
        let polls = try await script.incoming
        let events = record(connection)
        // The server ends the connection.
        _ = try await polls.request()
        try polls.respond("204 No Content")
        #expect(try await events.next() == "closed: -")
    }

    /// A server that answers polls at once with nothing is asked less and less often, and then not any more.
    @Test(.backstop)
    func aServerThatHoldsNoPollIsGivenUp() async throws {
        let server = try ScriptedServer()
        let pauses = Transcript<Duration>()
        let connection = patientHub(url: server.url).withTransports(.longPolling).withAccessToken { "t" }.withOptions {
            $0.now = { .uptimeNanoseconds(0) }
            $0.pause = { duration, _ in pauses.add(duration) }
        }.build()
        let events = record(connection)
        async let script = opened(server, .longPolling)
        try await connection.start()
        let (polls, posts) = try await script
        // Messages may follow each other as fast as they like.
        for _ in 0..<20 { try await poll(polls, "{\"type\":6}\u{1e}") }
        for _ in 0..<17 { try await poll(polls, "") }
        #expect(try await events.next { $0.hasPrefix("closed") } == "closed: protocolViolation")
        for peer in [polls, posts] { try await peer.readToEnd() }
        let expected = [0.25, 0.5, 1, 2, 4].map { Duration.seconds($0) } + Array(repeating: .seconds(5), count: 10)
        #expect(pauses.all == expected)
    }

    @Test(arguments: [TransportKind.serverSentEvents, .longPolling])
    func aPostThatFailsEndsTheConnection(_ kind: TransportKind) async throws {
        let server = try ScriptedServer()
        let connection = connection(server, kind)
        async let script = opened(server, kind, isChunked: true)
        try await connection.start()
        let posts = try await script.posts
        let events = record(connection)
        try await connection.send("A")
        _ = try await posts.request()
        try posts.respond("404 Not Found")
        #expect(try await events.next() == "closed: refused")
    }

    /// The server may be closing it at this moment.
    @Test
    func aConnectionThatWasIdleForTooLongIsNotReused() async throws {
        let server = try ScriptedServer()
        let connection = patientHub(url: server.url).withTransports(.serverSentEvents).withAccessToken { "t" }
            .withOptions { $0.maximumIdle = .zero }.build()
        async let script = opened(server, .serverSentEvents)
        try await connection.start()
        let posts = try await script.posts
        try await connection.send("A")
        let next = try await server.accept()
        #expect(try await post(next).contains(#""target":"A""#))
        try await posts.readToEnd()
    }

    @Test
    func theEndOfTheEventsEndsTheConnection() async throws {
        let server = try ScriptedServer()
        let connection = connection(server, .serverSentEvents)
        async let script = opened(server, .serverSentEvents)
        try await connection.start()
        let events = record(connection)
        try await script.incoming.closeOutput()
        #expect(try await events.next().hasPrefix("closed"))
    }

    /// At each step of opening, the server closes the connection that the step is about.
    @Test(arguments: [TransportKind.serverSentEvents, .longPolling], ["incoming", "post", "answer"])
    func aServerThatDiesAtAStep(_ kind: TransportKind, _ step: String) async throws {
        let server = try ScriptedServer()
        let connection = connection(server, kind)
        let events = record(connection)
        async let script: [ScriptedPeer] = {
            guard step != "incoming" else {
                try await server.negotiate(transports: [kind.rawValue])
                let incoming = try await server.accept()
                _ = try await incoming.request()
                incoming.closeOutput()
                return [incoming]
            }
            let (incoming, posts) = try await openings(server, kind)
            _ = try await posts.request()
            if step == "post" {
                posts.closeOutput()
            } else {
                try posts.respond()
                incoming.closeOutput()
            }
            return [incoming, posts]
        }()
        let error = await signalRError { try await connection.start() }
        // A server that has answered no poll has not taken the transport.
        #expect(error?.code == (kind == .longPolling || step == "incoming" ? .noTransport : .connectionLost))
        #expect(events.all == ["failed to open: \(error.map { "\($0.code)" } ?? "")"])
        for peer in try await script { try await peer.readToEnd() }
    }

    @Test(arguments: [TransportKind.serverSentEvents, .longPolling])
    func stoppingReturnsEvenIfTheServerDoesNotAnswer(_ kind: TransportKind) async throws {
        let server = try ScriptedServer()
        let connection = connection(server, kind)
        async let script = opened(server, kind)
        try await connection.start()
        let (incoming, posts) = try await script
        let events = record(connection)
        async let call = signalRError { try await connection.invoke("A") }
        // From here on the server answers no request.
        _ = try await posts.request()
        await connection.stop()
        #expect(await call?.code == .stopped)
        #expect(events.all == ["closed: -"])
        for peer in [incoming, posts] { try await peer.readToEnd() }
    }

    @Test
    func eventsInAnyPieces() throws {
        let text = ":\r\ndata: a\r\n\r\ndata:b\rdata\rdata:  c\r\revent: x\ndata: d\nid: 1\n\n\n\ndatax: e\n\n"
        let expected = ["a", "b\n\n c", "d"]
        for size in 1...text.utf8.count {
            var parser = EventStreamParser(maximumEvent: 100)
            var events: [String] = []
            var rest = ByteBuffer(string: text)
            while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
                try parser.feed(piece) { events.append(String(buffer: $0)) }
            }
            #expect(events == expected)
        }
        var parser = EventStreamParser(maximumEvent: 10)
        #expect(throws: SignalRError.self) { try parser.feed(ByteBuffer(string: "data: 0123456789")) { _ in } }
    }
}
