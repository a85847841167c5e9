import NIOCore
import Support
import TestSupport
import Testing

@testable import WebServer

/// Requests, and the bounds on them.
struct RequestTests {
    @Test func filesHaveTypeLengthAndTag() async throws {
        try await WebServerFixture.with { fixture in
            let client = try fixture.client()
            let page = try await client.get()
            #expect(page.status == 200)
            #expect(page.text == "<p>page")
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(page.headers["date"]?.hasSuffix(" GMT") == true)
            let tag = try #require(page.headers["etag"])
            for tags in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let known = try await client.get("/", ["If-None-Match: \(tags)"])
                #expect(known.status == 304)
                #expect(known.headers["etag"] == tag)
                #expect(known.headers["content-length"] == nil)
            }
            #expect(try await client.get("/", ["If-None-Match: \"x\""]).status == 200)
            #expect(try await client.get("/?a=b").text == "<p>page")
            let head = try await client.get(method: "HEAD")
            #expect(head.headers["content-length"] == "7")
            #expect(try await client.get("/big").body == [UInt8](repeating: 7, count: 1 << 20))
            #expect(try await client.get("/metrics").text == "up 1\n")
            #expect(try await client.get("/metrics", method: "HEAD").headers["content-length"] == "5")
            #expect(try await client.get("/none").status == 404)
            #expect(try await client.get("//").status == 404)
        }
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"])
    func onlyReadingIsAllowed(_ method: String) async throws {
        try await WebServerFixture.with { fixture in
            let response = try await fixture.client().get(method: method)
            // CONNECT has no path.
            #expect(method == "CONNECT" ? [400, 405].contains(response.status) : response.status == 405)
            if response.status == 405 { #expect(response.headers["allow"] == "GET, HEAD") }
            #expect(try await fixture.status("/live", method: "HEAD", WebClient.upgrade) == 405)
        }
    }

    /// RFC 9112, 3.2.2: the address in the first line counts, and not the Host header.
    @Test func theWholeAddressMayBeAsked() async throws {
        try await WebServerFixture.with { fixture in
            let here = "localhost:\(fixture.port)"
            for (address, host, status) in [
                ("http://\(here)/", here, 200), ("HTTP://\(here)", here, 200), ("http://\(here)?x=/", here, 200),
                ("http://\(here)/metrics?x", "evil.example", 200), ("http://\(here)/none", here, 404),
                ("http://evil.example/", here, 421), ("http://ada@\(here)/", here, 400), ("http:///", here, 400),
                ("ftp://\(here)/", here, 400),
            ] {
                let answered = try await fixture.status(address, host: host)
                #expect(answered == status, "\(address) \(host)")
            }
        }
    }

    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 99999999999"])
    func bodiesAreRefused(_ header: String) async throws {
        try await WebServerFixture.with { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/", [header]).status == 413)
            try client.send("5\r\nhello\r\n0\r\n\r\n")
            #expect(try await client.rest().isEmpty)
            #expect(try await fixture.status("/", ["Content-Length: 0"]) == 200)
        }
    }

    @Test(arguments: [
        "\r\n\r\nnonsense\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", "GET / HTTP/1.1\r\nX: \0\r\n\r\n", "\u{16}\u{3}\u{1}",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func nonsenseIsRefused(_ text: String) async throws {
        try await WebServerFixture.with { fixture in
            let client = try fixture.client()
            try client.send(text)
            #expect(try await client.response().status == 400)
            #expect(try await client.rest().isEmpty)
        }
    }

    @Test func longHeadsAreRefused() async throws {
        try await WebServerFixture.with {
            $0.limits.maximumHeadBytes = 1000
        } _: { fixture in
            let long = String(repeating: "a", count: 1000)
            #expect(try await fixture.status("/", ["X: \(long.prefix(800))"]) == 200)
            #expect(try await fixture.status("/", ["X: \(long)"]) == 431)
            #expect(try await fixture.status("/\(long)") == 431)
            #expect(try await fixture.status("/", (0..<20).map { "X\($0): \(long.prefix(50))" }) == 431)
            // One that never ends.
            for start in ["GET /", "GET / HTTP/1.1\r\nX: ", "GET / HTTP/1.1\r\n"] {
                let client = try fixture.client()
                try client.send(start + String(repeating: start.hasSuffix("\n") ? "a: b\r\n" : "a", count: 20_000))
                #expect(try await client.response().status == 431)
            }
        }
    }

    @Test func theDefaultBoundOfHeadsIsWhatBrowsersNeed() async throws {
        try await WebServerFixture.with { (fixture) async throws in
            #expect(try await fixture.status("/", ["Cookie: \(String(repeating: "a", count: 15_000))"]) == 200)
            #expect(try await fixture.status("/", ["Cookie: \(String(repeating: "a", count: 17_000))"]) == 431)
        }
    }

    @Test func connectionsLastUntilOneSideCloses() async throws {
        try await WebServerFixture.with { fixture in
            let client = try fixture.client()
            #expect(try await client.get().headers["connection"] == nil)
            let last = try await client.get("/", ["Connection: close"])
            #expect(last.headers["connection"] == "close")
            #expect(try await client.rest().isEmpty)
            let old = try fixture.client()
            #expect(try await old.get(version: "1.0", ["Connection: keep-alive"]).headers["connection"] == "keep-alive")
            #expect(try await old.get(version: "1.0").headers["connection"] == "close")
            #expect(try await old.rest().isEmpty)
            let other = try fixture.client()
            let upgrade = try await other.get("/", ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings"])
            #expect(upgrade.status == 200)
            #expect(upgrade.headers["connection"] == "close")
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await WebServerFixture.with { fixture in
            let client = try fixture.client()
            let paths = (0..<200).map { ["/", "/metrics", "/none"][$0 % 3] }
            let request = { (path: String) in "GET \(path) HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\n\r\n" }
            // In groups, because only some may wait for the answers before.
            for group in stride(from: 0, to: 200, by: 20) {
                try client.send(paths[group..<group + 20].map(request).joined())
                for path in paths[group..<group + 20] {
                    let status = try await client.response().status
                    #expect(status == (path == "/none" ? 404 : 200))
                }
            }
            // Of those that need not be made too: they wait while the client does not read.
            for _ in 0..<50 {
                try client.send(String(repeating: request("/"), count: 20))
                for _ in 0..<20 { #expect(try await client.response().text == "<p>page") }
            }
        }
    }

    @Test func waitingRequestsAreBounded() async throws {
        let gate = Latch()
        try await WebServerFixture.with {
            $0.limits.maximumPipelined = 3
        } routes: {
            $0.generated["/slow"] = {
                await gate.wait()
                return WebResponse(status: 200, "slow")
            }
        } _: { fixture in
            let client = try fixture.client()
            let request = "GET /slow HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\n\r\n"
            try client.send(String(repeating: request, count: 10))
            gate.open()
            for _ in 0..<4 { #expect(try await client.response().text == "slow\n") }
            #expect(try await client.response().status == 503)
            #expect(try await client.rest().isEmpty)
        }
    }

    /// One that asks for more than it takes gets no further answers, instead of filling the memory with them.
    @Test func whoDoesNotReadGetsNoFurtherAnswers() async throws {
        let made = Locked(0)
        try await WebServerFixture.with {
            $0.limits.sendTimeout = .milliseconds(300)
        } routes: {
            $0.generated["/large"] = {
                made.withLock { $0 += 1 }
                return WebResponse(contentType: "a/b", body: ByteBuffer(repeating: 1, count: 1 << 20))
            }
        } _: { fixture in
            let client = try fixture.client(receiveBuffer: 4096)
            let request = "GET /large HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\n\r\n"
            try client.send(String(repeating: request, count: 30))
            try await eventually("the connection is closed") { await fixture.server.counts().connections == 0 }
            #expect(made.withLock { $0 } < 15)
        }
    }

    @Test func onlySomeAnswersAreMadeAtOnce() async throws {
        let gate = Latch()
        let making = Locked(0)
        try await WebServerFixture.with {
            $0.limits.maximumComputing = 2
        } routes: {
            $0.generated["/slow"] = {
                making.withLock { $0 += 1 }
                await gate.wait()
                return WebResponse(status: 200, "slow")
            }
        } _: { fixture in
            let clients = try (0..<2).map { _ in try fixture.client() }
            for client in clients { try client.ask("/slow") }
            try await eventually("both are made") { making.withLock { $0 } == 2 }
            let busy = try await fixture.client().get("/slow")
            #expect(busy.status == 503)
            #expect(busy.headers["retry-after"] != nil)
            #expect(try await fixture.status() == 200)
            gate.open()
            for client in clients { #expect(try await client.response().text == "slow\n") }
            #expect(try await fixture.status("/slow") == 200)
        }
    }

    /// What nobody waits for is given up, and what takes too long is not waited for.
    @Test func answersThatAreNotMadeHoldNobodyUp() async throws {
        try await WebServerFixture.with {
            $0.limits.maximumComputing = 1
            $0.limits.computingTimeout = .milliseconds(50)
        } routes: {
            $0.generated["/never"] = {
                await Latch().wait()
                return WebResponse(status: 200, "given up")
            }
        } _: { fixture in
            let client = try fixture.client()
            let late = try await client.get("/never")
            #expect(late.status == 503)
            #expect(late.text == "The answer took too long.\n")
            try client.ask("/never")
            client.socket.closeOutput()
            _ = try await client.rest()
            try await eventually("the answer is given up") { try await fixture.status("/metrics") == 200 }
        }
    }

    @Test func connectionsAreBounded() async throws {
        try await WebServerFixture.with {
            $0.limits.maximumConnections = 3
        } _: { fixture in
            var clients = try (0..<3).map { _ in try fixture.client() }
            for client in clients { #expect(try await client.get().status == 200) }
            let another = try fixture.client()
            let refusal = try await another.get()
            #expect(refusal.status == 503)
            #expect(refusal.headers["retry-after"] != nil)
            #expect(try await another.rest().isEmpty)
            clients.removeLast()
            try await eventually("there is room again") {
                guard let client = try? fixture.client() else { return false }
                return try await client.get().status == 200
            }
        }
    }

    @Test func thisMachineHasABoundOfItsOwn() async throws {
        try await WebServerFixture.with {
            $0.limits.maximumConnectionsPerHost = 1
            $0.limits.maximumLoopbackConnections = 2
        } _: { fixture in
            let clients = try (0..<2).map { _ in try fixture.client() }
            for client in clients { #expect(try await client.get().status == 200) }
            #expect(try await fixture.status() == 503)
        }
    }
}
