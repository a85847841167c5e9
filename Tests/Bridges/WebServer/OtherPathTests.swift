import NIOCore
import Support
import Testing

@testable import WebServer

/// Answers to any path, clients that are no browsers, and networks.
struct OtherPathTests {
    private static let echo: @Sendable (WebRequest) async -> WebResponse = { request in
        WebResponse(contentType: "text/plain", body: ByteBuffer(string: "\(request.path) \(request.query ?? "-")"))
    }

    @Test func anyPathIsAnsweredAndFilesComeFirst() async throws {
        try await WebServerFixture.with(routes: {
            $0.others = Self.echo
            $0.socketPath = "/tree"
        }) { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/").text == "<p>page")
            #expect(try await client.get("/metrics").text == "up 1\n")
            #expect(try await client.get("/a/b?VALUE").text == "/a/b VALUE")
            #expect(try await client.get("/a?").text == "/a ")
            // A path may have a WebSocket as well.
            #expect(try await client.get("/tree").text == "/tree -")
            #expect(try await fixture.status("/tree", WebClient.upgrade) == 101)
        }
    }

    @Test func aHostIsNeededUnlessItIsSaidOtherwise() async throws {
        for acceptsNoHost in [false, true] {
            try await WebServerFixture.with {
                $0.acceptsNoHost = acceptsNoHost
            } _: { fixture in
                let client = try fixture.client()
                try client.send("GET / HTTP/1.1\r\n\r\n")
                #expect(try await client.response().status == (acceptsNoHost ? 200 : 400))
                // Only browsers say from which page they ask.
                let page = try fixture.client()
                try page.send("GET / HTTP/1.1\r\nOrigin: http://evil.test\r\n\r\n")
                #expect(try await page.response().status == 400)
                #expect(try await fixture.status(host: "evil.test") == 421)
            }
        }
    }

    @Test(arguments: [
        ("192.168.1.0/24", "192.168.1.255", true), ("192.168.1.0/24", "192.168.2.0", false),
        ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false), ("0.0.0.0/0", "1.2.3.4", true),
        ("0.0.0.0/0", "::2", false), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
        ("::/0", "fd00::1", true), ("2001:db8::/65", "2001:db8::1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:0", false), ("2001:db8::1/128", "2001:db8::2", false),
    ])
    func networks(_ network: String, _ address: String, _ contains: Bool) throws {
        let address = try #require(IPAddress(literal: address))
        #expect(try #require(IPNetwork(network)).contains(address) == contains)
    }

    @Test(arguments: [
        "", "/", "/24", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/1/2", "fd00::/129", "home/8",
    ])
    func whatIsNoNetwork(_ text: String) {
        #expect(IPNetwork(text) == nil)
    }
}
