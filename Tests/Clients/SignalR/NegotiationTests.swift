import Foundation
import NIOCore
import SignalR
import TestSupport
import Testing

/// How a connection is opened, and how that fails.
struct NegotiationTests {
    private func failure(_ connection: HubConnection) async -> SignalRError? {
        let error = await signalRError { try await connection.start() }
        #expect(connection.state == .disconnected)
        return error
    }

    @Test
    func theRequestsAreThoseOfTheProtocol() async throws {
        let server = try ScriptedServer()
        let tokens = Transcript<Void>()
        let connection = patientHub(url: server.url + "?user=a%20b").withHeaders(["X-Test": "1"])
            .withAccessToken {
                tokens.add(())
                return "token\(tokens.all.count)"
            }.build()
        async let script: (ScriptedPeer.Request, ScriptedPeer.Request) = {
            let first = try await server.negotiate(token: "a+/=b")
            let hub = try await server.accept()
            let second = try await hub.upgrade()
            try await hub.performHandshake()
            hub.closeOutput()
            return (first, second)
        }()
        try await connection.start()
        let (first, second) = try await script
        #expect(first.method == "POST")
        #expect(first.target == "/hub/negotiate?user=a%20b&negotiateVersion=1")
        #expect(first.headers["content-length"] == "0")
        #expect(first.headers["host"] == "127.0.0.1:\(server.port)")
        #expect(first.headers["authorization"] == "Bearer token1")
        #expect(first.headers["x-test"] == "1")
        #expect(second.method == "GET")
        #expect(second.target == "/hub?user=a%20b&id=a%2B%2F%3Db")
        #expect(second.headers["authorization"] == "Bearer token2")
        #expect(second.headers["x-test"] == "1")
        #expect(second.headers["sec-websocket-version"] == "13")
        await connection.stop()
    }

    @Test
    func versionZeroNamesTheConnectionByItsID() async throws {
        let server = try ScriptedServer()
        async let script: ScriptedPeer.Request = {
            try await server.answer(
                #"{"connectionId":"zero","availableTransports":[{"transport":"WebSockets","transferFormats":["Text"]}]}"#
            )
            let hub = try await server.accept()
            let request = try await hub.upgrade()
            try await hub.performHandshake()
            hub.closeOutput()
            return request
        }()
        let connection = patientHub(url: server.url).build()
        try await connection.start()
        #expect(try await script.target == "/hub?id=zero")
        await connection.stop()
    }

    @Test
    func aRedirectIsFollowedWithItsToken() async throws {
        let (first, second) = (try ScriptedServer(), try ScriptedServer())
        async let script: [ScriptedPeer.Request] = {
            let asked = try await first.answer(
                #"{"url":"http://127.0.0.1:\#(second.port)/service?hub=chat","accessToken":"theirs"}"#)
            let again = try await second.negotiate()
            let hub = try await second.accept()
            let opened = try await hub.upgrade()
            try await hub.performHandshake()
            hub.closeOutput()
            return [asked, again, opened]
        }()
        let connection = patientHub(url: first.url).withAccessToken { "mine" }.build()
        try await connection.start()
        let requests = try await script
        #expect(requests[0].headers["authorization"] == "Bearer mine")
        #expect(requests[1].target == "/service/negotiate?hub=chat&negotiateVersion=1")
        #expect(requests[1].headers["authorization"] == "Bearer theirs")
        #expect(requests[2].target == "/service?hub=chat&id=token")
        #expect(requests[2].headers["authorization"] == "Bearer theirs")
        await connection.stop()
    }

    /// The third server is sent nothing that the second had, nor the second what the user gave the first.
    @Test
    func tokensAndHeadersStayWithTheirServer() async throws {
        let servers = [try ScriptedServer(), try ScriptedServer(), try ScriptedServer()]
        async let script: [ScriptedPeer.Request] = {
            let urls = [servers[0].url + "/again", servers[1].url, servers[2].url]
            var requests = [try await servers[0].answer(#"{"url":"\#(urls[0])"}"#)]
            requests.append(try await servers[0].answer(#"{"url":"\#(urls[1])"}"#))
            requests.append(try await servers[1].answer(#"{"url":"\#(urls[1])","accessToken":"theirs"}"#))
            requests.append(try await servers[1].answer(#"{"url":"\#(urls[2])"}"#))
            requests.append(try await servers[2].answer("{}"))
            return requests
        }()
        let connection = patientHub(url: servers[0].url).withAccessToken { "mine" }
            .withHeaders(["X-Key": "mine", "User-Agent": "mine"]).build()
        #expect(await failure(connection)?.code == .negotiationFailed)
        let requests = try await script
        #expect(
            requests.map { $0.headers["authorization"] } == ["Bearer mine", "Bearer mine", nil, "Bearer theirs", nil])
        // A redirect carries no headers.
        #expect(requests.map { $0.headers["x-key"] } == ["mine", "mine", nil, nil, nil])
        #expect(requests[2].headers["user-agent"] == "SignalR-Swift")
    }

    @Test
    func endlessRedirectsAreGivenUp() async throws {
        let server = try ScriptedServer()
        async let script: Int = {
            var count = 0
            while true {
                let peer = try await server.accept()
                // The test's own request says that it is over.
                guard try await peer.request().method == "POST" else { return count }
                try peer.respond("200 OK", ["Connection: close"], #"{"url":"\#(server.url)"}"#)
                peer.closeOutput()
                count += 1
            }
        }()
        #expect(await failure(patientHub(url: server.url).build())?.code == .negotiationFailed)
        try RawSocket.connect(to: server.port).write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(try await script == 6)
    }

    static let refusals: [(String, String, SignalRError.Code)] = [
        ("200 OK", #"{"error":"not allowed"}"#, .negotiationFailed), ("200 OK", "no JSON", .negotiationFailed),
        ("200 OK", "", .negotiationFailed), ("200 OK", "{}", .negotiationFailed),
        ("200 OK", #"{"negotiateVersion":2,"connectionId":"x","connectionToken":"x"}"#, .negotiationFailed),
        ("200 OK", #"{"negotiateVersion":1,"connectionId":"x"}"#, .negotiationFailed),
        ("200 OK", #"{"ProtocolVersion":"1.5"}"#, .negotiationFailed),
        ("200 OK", #"{"url":"ftp://x"}"#, .invalidURL), ("401 Unauthorized", "", .refused),
        ("404 Not Found", "", .refused),
        ("500 Oops", "", .refused), ("302 Found", "", .refused),
        (
            "200 OK", #"{"negotiateVersion":1,"connectionId":"x","connectionToken":"x","availableTransports":[]}"#,
            .noTransport
        ),
        (
            "200 OK",
            #"{"connectionId":"x","availableTransports":[{"transport":"Pigeons","transferFormats":["Text"]}]}"#,
            .noTransport
        ),
    ]

    @Test(arguments: refusals)
    func refusalsAreToldAsTheyAre(_ status: String, _ body: String, _ code: SignalRError.Code) async throws {
        let server = try ScriptedServer()
        async let script = server.answer(body, status: status)
        let error = await failure(patientHub(url: server.url).build())
        #expect(error?.code == code, "\(error.map { "\($0)" } ?? "")")
        if code == .refused { #expect(error?.httpStatus == Int(status.prefix(3))) }
        _ = try await script
    }

    @Test(arguments: [
        "", "x", "ftp://example.org", "http://", "http://:80", "http://a:0", "http://a:99999", "http://a b/",
    ])
    func addressesThatAreNone(_ url: String) async {
        #expect(await failure(patientHub(url: url).build())?.code == .invalidURL)
    }

    @Test
    func optionsThatContradictThemselves() async {
        let builder = patientHub(url: "http://127.0.0.1:1/hub")
        for change: (inout HubConnectionOptions) -> Void in [
            { $0.transports = [] }, { $0.skipsNegotiation = true }, { $0.keepAliveInterval = .zero },
            { $0.serverTimeout = .seconds(-1) }, { $0.handshakeTimeout = .zero }, { $0.maximumMessageSize = 0 },
        ] {
            #expect(await failure(builder.withOptions(change).build())?.code == .invalidOptions)
        }
    }

    @Test
    func anUnreachableServer() async throws {
        let port = try PortLease.port()
        #expect(
            await failure(patientHub(url: "http://127.0.0.1:\(port)/hub").build())?.code == .connectionFailed)
        #expect(await failure(patientHub(url: "ws://nobody.invalid/hub").build())?.code == .connectionFailed)
    }

    @Test
    func negotiationCanBeSkipped() async throws {
        let server = try ScriptedServer()
        async let script = server.hub()
        let connection = patientHub(url: "ws://127.0.0.1:\(server.port)/hub").withoutNegotiation().build()
        try await connection.start()
        #expect(connection.connectionID == nil)
        try await script.closeOutput()
        await connection.stop()
    }

    @Test
    func transportsFallBackInTheirOrder() async throws {
        let server = try ScriptedServer()
        let all = ["LongPolling", "ServerSentEvents", "WebSockets"]
        async let script: [String] = {
            var seen: [String] = []
            for token in ["first", "second", "third"] {
                // Asked each time anew: a token is good for one transport.
                try await server.negotiate(transports: all, token: token)
                let peer = try await server.accept()
                let request = try await peer.request()
                #expect(request.target == "/hub?id=\(token)")
                seen.append(
                    request.headers["upgrade"] ?? (request.headers["accept"] == "text/event-stream" ? "sse" : "poll"))
                try peer.respond("503 Not Now", ["Connection: close"])
                peer.closeOutput()
            }
            return seen
        }()
        let error = await failure(patientHub(url: server.url).build())
        #expect(try await script == ["websocket", "sse", "poll"])
        #expect(error?.code == .noTransport)
        #expect(error?.httpStatus == 503)
        for name in all { #expect(error?.message.contains(name) == true) }
    }

    @Test
    func serverSentEventsAreNotForMessagePack() async throws {
        let server = try ScriptedServer()
        async let script: Void = {
            try await server.negotiate(transports: ["ServerSentEvents", "WebSockets"])
            let hub = try await server.webSocket()
            #expect(try await hub.frame().opcode == 2)
            try hub.write(ScriptedPeer.frame(Array("{}\u{1e}".utf8), opcode: 2))
            hub.closeOutput()
        }()
        let connection = patientHub(url: server.url).withHubProtocol(.messagePack).build()
        try await connection.start()
        try await script
        await connection.stop()
        let only = patientHub(url: server.url).withHubProtocol(.messagePack).withTransports(.serverSentEvents)
        async let again = server.negotiate(transports: ["ServerSentEvents"])
        #expect(await failure(only.build())?.code == .noTransport)
        _ = try await again
    }

    @Test
    func theHubMayRefuseTheHandshake() async throws {
        let server = try ScriptedServer()
        async let script: Void = {
            try await server.negotiate()
            let hub = try await server.webSocket()
            _ = try await hub.frame()
            try hub.write(ScriptedPeer.frame(Array(#"{"error":"not you"}"#.utf8) + [0x1E]))
            try await hub.readToEnd()
        }()
        let error = await failure(patientHub(url: server.url).build())
        #expect(error?.code == .handshakeFailed)
        #expect(error?.message.contains("not you") == true)
        try await script
    }

    /// At each step of opening: the server closes, sends garbage, or sends nothing.
    @Test(arguments: ["negotiation", "upgrade", "handshake"], ["closes", "nonsense", "hangs"])
    func aServerThatDiesAtAStep(_ step: String, _ fault: String) async throws {
        // A short time for each step may be over before the step that hangs, on a busy machine: then with more of it.
        for timeout in fault == "hangs" ? [.seconds(1), .seconds(4), Patience.wait] : [Patience.wait] {
            let (error, events, isReached) = try await dying(step, fault, timeout: timeout)
            guard isReached else { continue }
            if fault == "hangs" { #expect(error?.code == (step == "upgrade" ? .noTransport : .timedOut)) }
            #expect(events.count == 1)
            #expect(events.first?.hasPrefix("failed to open") == true)
            return
        }
        Issue.record("the client did not come as far as the \(step)")
    }

    /// Opens a connection to a server that dies at a step.
    ///
    /// - Returns: the error, the events about it, and whether the client reached the step.
    private func dying(
        _ step: String, _ fault: String, timeout: Duration
    ) async throws -> (SignalRError?, [String], Bool) {
        let server = try ScriptedServer()
        let (over, reached) = (Transcript<Void>(), Transcript<Void>())
        async let script: Void = {
            if step != "negotiation" { try await server.negotiate() }
            let peer = try await server.accept()
            let request = try await peer.request()
            if step == "handshake" {
                try peer.upgrade(request)
                _ = try await peer.frame()
            }
            reached.add(())
            switch fault {
            case "closes": peer.closeOutput()
            case "nonsense": try peer.write(Array("nonsense\r\n\r\n\u{1e}".utf8))
            default: break
            }
            try await over.next()
            _ = peer
        }()
        let connection = patientHub(url: server.url).withOptions { $0.handshakeTimeout = timeout }.build()
        let events = record(connection)
        let error = await failure(connection)
        let isReached = !reached.all.isEmpty
        over.add(())
        // For a script that still waits for the client.
        for _ in 0..<2 { try RawSocket.connect(to: server.port).closeOutput() }
        do {
            try await script
        } catch {
            if isReached { throw error }
        }
        return (error, events.all, isReached)
    }

    @Test
    func aTokenProviderThatHangsIsGivenUp() async throws {
        let connection = patientHub(url: "http://127.0.0.1:1/hub").withAccessToken {
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return nil
        }.withOptions { $0.handshakeTimeout = .milliseconds(100) }.build()
        #expect(await failure(connection)?.code == .timedOut)
    }

    @Test
    func aTokenProviderThatFails() async throws {
        struct Locked: Error {}
        let connection = patientHub(url: "http://127.0.0.1:1/hub").withAccessToken { throw Locked() }.build()
        let error = await failure(connection)
        #expect(error?.code == .negotiationFailed)
        #expect(error?.cause is Locked)
    }
}
