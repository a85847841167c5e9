import Foundation
import TestSupport
import Testing

/// Nobody opens the page of `elemental dashboard` without its token, another user's program on the same machine neither.
struct DashboardTokenTests {
    private static func arguments(_ state: String, _ options: [String] = [], port: Int = 0) -> [String] {
        ["dashboard", "127.0.0.1:9", "--port", "\(port)", "--json", "--state", state] + options
    }

    /// Runs a dashboard during the body, which gets its port and its token.
    private static func with(
        _ state: String, _ body: (_ serving: JSONLine, _ port: Int, _ token: String) async throws -> Void
    ) async throws {
        try await withCommand(arguments(state)) { dashboard in
            let serving = try await dashboard.nextEvent("serving")
            let url: String = try #require(serving["url"])
            let (page, token) = (url.prefix { $0 != "#" }, try #require(url.firstMatch(of: /#token=(.*)$/)?.1))
            try await body(serving, URLComponents(string: String(page))?.port ?? 0, String(token))
            try await dashboard.expectExit(after: SIGTERM)
        }
    }

    /// What the first message of a page is answered with.
    private static func answer(_ port: Int, _ hello: String, _ headers: [String: String] = [:]) async throws -> String {
        let socket: PageSocket
        do {
            socket = try await PageSocket.open(port: port, headers: headers)
        } catch let error as TestSupportError {
            return String("\(error)".prefix(12))
        }
        try socket.send(hello)
        switch try await socket.next() {
        case .text(let text): return JSONLine(text)?["t"] ?? text
        case .close(let code, let reason): return "\(code) \(reason)"
        case .binary: return "binary"
        }
    }

    @Test("on loopback too there is a token, which is kept, and guards pages and metrics", .backstop)
    func loopback() async throws {
        try await withFolder { state in
            var first = ""
            try await Self.with(state) { serving, port, token in
                first = token
                // 256 bits.
                #expect(token.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil, "\(token)")
                let file: String = try #require(serving["tokenFile"])
                let kept = try String(contentsOfFile: file, encoding: .utf8)
                #expect(kept == token)
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600)

                let answers = [
                    try await Self.answer(port, #"{"t":"hello"}"#),
                    try await Self.answer(port, #"{"t":"hello","token":"\#(token.dropLast())"}"#),
                    try await Self.answer(port, #"{"t":"hello","token":"\#(token)"}"#),
                ]
                #expect(answers == ["1008 token", "1008 token", "hello"])
                let without = try await MetricsTests().get(port).status
                let with = try await MetricsTests().get(port, ["Authorization": "Bearer \(token)"]).status
                #expect(without == 401 && with == 200)
            }
            try await Self.with(state) { _, _, token in #expect(token == first) }
        }
    }

    @Test("the journal is told the token's file and not the token", .backstop)
    func journal() async throws {
        try await withFolder { state in
            // systemd tells a program by device and inode that its output goes to the journal.
            for (number, json) in [(1, ["--json"]), (2, [])] {
                let script = "JOURNAL_STREAM=$(stat -L -c %d:%i /proc/$$/fd/\(number)) exec \"$@\""
                let arguments = Self.arguments(state).filter { $0 != "--json" } + json
                try await ChildProcess.with("bash", ["-c", script, "bash", ElementalProcess.path] + arguments) {
                    dashboard in
                    let file = "\(state)/page-token"
                    try await eventually { dashboard.transcript.contains(file) }
                    let token = try String(contentsOfFile: file, encoding: .utf8)
                    #expect(!dashboard.transcript.contains(token), "\(dashboard.transcript)")
                }
            }
        }
    }

    @Test("--public-url is the Host and Origin of a reverse proxy, and no other header is believed", .backstop)
    func reverseProxy() async throws {
        try await withFolder { state in
            let port = try PortLease.port()
            let command = Self.arguments(state, ["--public-url", "https://pi.example.org"], port: port)
            try await withCommand(command) { dashboard in
                let url: String = try #require(try await dashboard.nextEvent("serving")["url"])
                let token = try #require(url.firstMatch(of: /^https:\/\/pi\.example\.org\/#token=(.{43})$/)?.1)
                let hello = #"{"t":"hello","token":"\#(token)"}"#
                let good = "https://pi.example.org"
                let cases: [([String: String], String)] = [
                    (["Host": "pi.example.org", "Origin": good], "hello"),
                    (["Host": "pi.example.org:443", "Origin": good], "hello"),
                    (["Host": "pi.example.org", "Origin": "http://pi.example.org"], "HTTP/1.1 403"),
                    (["Host": "pi.example.org:80"], "HTTP/1.1 421"),
                    (["Host": "evil.example", "X-Forwarded-Host": "pi.example.org"], "HTTP/1.1 421"),
                ]
                for (headers, answer) in cases {
                    let given = try await Self.answer(port, hello, headers)
                    #expect(given == answer, "\(headers)")
                }
            }
            let wrong = try await ElementalProcess.run(Self.arguments(state, ["--public-url", "https://pi/page"]))
            #expect(wrong.status == .exited(64))
        }
    }
}
