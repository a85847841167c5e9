import NIOCore
import Support
import TestSupport
import Testing

@testable import WebServer

/// Who gets an answer, over real connections.
struct AccessTests {
    @Test func everyAnswerForbidsWhatPagesOfOthersCouldDo() async throws {
        try await WebServerFixture.with { fixture in
            for path in ["/", "/metrics", "/nothing"] {
                let headers = try await fixture.client().get(path).headers
                #expect(headers["content-security-policy"]?.contains("default-src 'self'") == true)
                #expect(headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
                #expect(headers["x-content-type-options"] == "nosniff")
                #expect(headers["referrer-policy"] == "no-referrer")
                #expect(headers["cross-origin-opener-policy"] == "same-origin")
                #expect(headers["cross-origin-resource-policy"] == "same-origin")
                #expect(!headers.keys.contains { $0.hasPrefix("access-control") })
                #expect(headers["cache-control"] == (path == "/" ? "no-cache" : "no-store"))
            }
        }
    }

    /// What the hosts that requests ask for are to this server, and the status of the answers.
    private enum Host: Int {
        /// One of its own.
        case own = 200
        /// A name that leads here is not one of its own: a page under it has an Origin equal to its Host.
        case foreign = 421
        case invalid = 400
    }

    /// PORT stands for the server's port.
    private static let hosts: [(Host, [String])] = [
        (
            .own,
            [
                "localhost:PORT", "LOCALHOST:PORT", "localhost.:PORT", "127.0.0.1:PORT", "[::1]:PORT",
                "[0:0:0:0:0:0:0:1]:PORT", "lamp.test:PORT",
            ]
        ),
        (
            .foreign,
            [
                "evil.test:PORT", "127.0.0.2:PORT", "192.0.2.1:PORT", "localhost.evil.test:PORT", "[::2]:PORT",
                "0.0.0.0:PORT", "127.1:PORT", "2130706433:PORT", "localhost", "localhost:80", "localhost:9",
            ]
        ),
        (
            .invalid,
            [
                "", " ", "user@localhost:PORT", "localhost:PORT/", "local host:PORT", "localhost:", "localhost:x",
                "localhost:+1", "[::1:PORT", "[fe80::1%25lo]:PORT", "::1", "localhost..:PORT", ".localhost:PORT",
                "löcalhost:PORT", "localhost:0", "localhost:99999", "[127.0.0.1]:PORT",
            ]
        ),
    ]

    @Test func onlyOwnHostsAreAnswered() async throws {
        try await WebServerFixture.with {
            $0.hosts = ["Lamp.test", "192.0.2.7"]
        } _: { (fixture) async throws in
            for (kind, hosts) in Self.hosts {
                for host in hosts {
                    let authority = host.replacing("PORT", with: "\(fixture.port)")
                    let origin = ["Origin: http://\(authority)"]
                    var statuses = [try await fixture.status(host: authority)]
                    if kind != .invalid { statuses.append(try await fixture.status("/", origin, host: authority)) }
                    if kind == .foreign {
                        statuses.append(try await fixture.status("/metrics", origin, host: authority))
                        statuses.append(try await fixture.status("/live", WebClient.upgrade + origin, host: authority))
                    }
                    #expect(statuses.allSatisfy { $0 == kind.rawValue }, "\(host): \(statuses)")
                }
            }
            #expect(fixture.sockets.count == 0)
        }
    }

    @Test func oneHostIsNeeded() async throws {
        try await WebServerFixture.with { fixture in
            #expect(try await fixture.status("/", ["Host: localhost:\(fixture.port)"]) == 400)
            let client = try fixture.client()
            try client.send("GET / HTTP/1.0\r\n\r\n")
            #expect(try await client.response().status == 400)
        }
    }

    @Test func pagesOfOthersAreForbidden() async throws {
        try await WebServerFixture.with { fixture in
            for origin in [
                "http://evil.test", "http://evil.test:PORT", "null", "https://localhost:PORT", "http://localhost",
                "http://localhost:1", "http://localhost:PORT/", "http://x@localhost:PORT", "localhost:PORT", "",
                "file://", "http://localhost:PORT http://evil.test", "http://",
            ] {
                let header = "Origin: " + origin.replacing("PORT", with: "\(fixture.port)")
                for method in ["GET", "HEAD", "POST", "OPTIONS"] {
                    let response = try await fixture.client().get(method: method, [header])
                    #expect(response.status == 403, "\(method) from \(origin)")
                    #expect(!response.headers.keys.contains { $0.hasPrefix("access-control") })
                }
                #expect(try await fixture.status("/metrics", [header]) == 403, "\(origin)")
                #expect(try await fixture.status("/live", WebClient.upgrade + [header]) == 403, "\(origin)")
            }
            #expect(fixture.sockets.count == 0)
        }
    }

    @Test func twoOriginsAreForbidden() async throws {
        try await WebServerFixture.with { (fixture) async throws in
            let own = "Origin: http://localhost:\(fixture.port)"
            #expect(try await fixture.status("/", [own, "Origin: http://evil.test"]) == 403)
            #expect(try await fixture.status("/", [own, own]) == 403)
        }
    }

    /// A link to the page may be anywhere; what only the page and programs ask for is not fetched from elsewhere.
    @Test func foreignFetchesAreForbidden() async throws {
        try await WebServerFixture.with { (fixture) async throws in
            let site = "Sec-Fetch-Site: cross-site"
            #expect(try await fixture.status("/", [site]) == 200)
            #expect(try await fixture.status("/metrics", [site]) == 403)
            #expect(try await fixture.status("/live", WebClient.upgrade + [site]) == 403)
            #expect(try await fixture.status("/metrics", ["Sec-Fetch-Site: same-origin"]) == 200)
        }
    }

    @Test func metricsNeedTheToken() async throws {
        try await WebServerFixture.with {
            $0.token = "correct horse"
            $0.limits.maximumWrongTokens = 3
        } _: { fixture in
            let missing = try await fixture.client().get("/metrics")
            #expect(missing.status == 401)
            #expect(missing.headers["www-authenticate"] == "Bearer")
            #expect(try await fixture.status("/metrics", ["Authorization: Bearer correct horse"]) == 200)
            #expect(try await fixture.status("/metrics", ["authorization: bearer correct horse"]) == 200)
            for wrong in ["Bearer correct horsf", "Bearer correct hors", "Bearer correct horse1"] {
                #expect(try await fixture.status("/metrics", ["Authorization: \(wrong)"]) == 401)
            }
            let late = try await fixture.client().get("/metrics", ["Authorization: Bearer correct horse"])
            #expect(late.status == 429)
            #expect(late.headers["retry-after"] != nil)
            // The page itself is no secret.
            #expect(try await fixture.status() == 200)
        }
    }

    @Test func tokensOfSocketsCountAsWell() async throws {
        try await WebServerFixture.with {
            $0.token = "correct"
            $0.limits.maximumWrongTokens = 2
        } _: { fixture in
            let client = try await fixture.open()
            let verdicts = Locked<[TokenVerdict]>([])
            try await fixture.on(0) { socket in
                for token in [nil, nil, nil, "correct", "wrong", "correct", "", "correct"] {
                    verdicts.withLock { $0.append(socket.verdict(on: token)) }
                }
            }
            #expect(
                verdicts.withLock { $0 }
                    == [.wrong, .wrong, .wrong, .accepted, .wrong, .accepted, .wrong, .tooMany])
            #expect(try await fixture.status("/metrics", ["Authorization: Bearer correct"]) == 429)
            withExtendedLifetime(client) {}
        }
    }
}
