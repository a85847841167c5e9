import Foundation
import NIOCore
import Support
import TestSupport
import Testing

@testable import WebServer

private let openssl = "/usr/bin/openssl"

@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl), "openssl makes the certificates"))
struct EncryptionTests {
    private func withCertificate(_ body: (_ tls: WebServerTLS) async throws -> Void) async throws {
        try await withFolder { folder in
            let (key, certificate) = ("\(folder)/key", "\(folder)/certificate")
            try await ChildProcess.run(
                openssl,
                ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
                    + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
                    + ["-keyout", key, "-out", certificate])
            try await body(WebServerTLS(certificateChain: try read(certificate), privateKey: try read(key)))
        }
    }

    private func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// What a server answers over TLS to these lines.
    private func ask(_ port: Int, _ lines: [String], options: [String] = []) async throws -> [String] {
        try await ChildProcess.with(
            openssl, ["s_client", "-quiet", "-connect", "127.0.0.1:\(port)", "-servername", "localhost"] + options
        ) { process in
            for line in lines + [""] { try process.writeLine(line + "\r") }
            _ = try await process.waitForExit()
            return process.lines(of: .output).map { $0.replacing("\r", with: "") }
        }
    }

    @Test func httpsIsHTTPS() async throws {
        try await withCertificate { tls in
            try await WebServerFixture.with {
                $0.tls = tls
                // The WebSocket ends by itself.
                $0.limits.maximumSilence = .milliseconds(500)
            } _: { fixture in
                let host = "Host: localhost:\(fixture.port)"
                let close = "Connection: close"
                let page = try await ask(fixture.port, ["GET / HTTP/1.1", host, close])
                #expect(page.first == "HTTP/1.1 200 OK")
                #expect(page.last == "<p>page")
                let big = try await ask(fixture.port, ["GET /metrics HTTP/1.1", host, close], options: ["-tls1_2"])
                #expect(big.last == "up 1")
                // The origin is an https one.
                for (scheme, status) in [("https", "200 OK"), ("http", "403 Forbidden")] {
                    let origin = "Origin: \(scheme)://localhost:\(fixture.port)"
                    let answer = try await ask(fixture.port, ["GET / HTTP/1.1", host, origin, close])
                    #expect(answer.first == "HTTP/1.1 \(status)")
                }
                let socket = try await ask(
                    fixture.port, ["GET /live HTTP/1.1", host] + WebClient.upgrade.map { $0 } + [close])
                #expect(socket.first == "HTTP/1.1 101 Switching Protocols")
            }
        }
    }

    /// What TLS keeps until it is flushed counts as waiting: who looks for room before each message is not closed for
    /// having sent too much.
    @Test(.backstop) func roomIsToldOverTLS() async throws {
        try await withCertificate { tls in
            try await WebServerFixture.with {
                $0.tls = tls
            } _: { fixture in
                let lines = ["GET /live HTTP/1.1", "Host: localhost:\(fixture.port)"] + WebClient.upgrade
                try await ChildProcess.with(
                    openssl, ["s_client", "-quiet", "-connect", "127.0.0.1:\(fixture.port)"]
                ) { process in
                    for line in lines + [""] { try process.writeLine(line + "\r") }
                    let told = Locked(0)
                    for _ in 0..<3 {
                        try await fixture.on(0) { [sockets = fixture.sockets] socket in
                            told.withLock { told in told = sockets.writable.withLock { $0 } }
                            var count = 0
                            while socket.isWritable, count < 100 {
                                socket.send(EncodedFrame(text: ByteBuffer(repeating: 120, count: 1 << 20)))
                                count += 1
                            }
                            #expect(count == 1)
                        }
                        try await eventually("there is room again") {
                            fixture.sockets.writable.withLock { $0 } > told.withLock { $0 }
                        }
                    }
                    #expect(fixture.sockets.closed.withLock { $0 } == [])
                }
            }
        }
    }

    @Test func plainRequestsFailCleanly() async throws {
        try await withCertificate { tls in
            try await WebServerFixture.with {
                $0.tls = tls
                $0.limits.headTimeout = .milliseconds(100)
            } _: { fixture in
                let client = try fixture.client()
                try client.ask()
                #expect(try !String(decoding: await client.rest(), as: UTF8.self).contains("HTTP"))
                // A handshake that never begins, or never ends.
                #expect(try await fixture.client().rest().isEmpty)
                let slow = try fixture.client()
                try slow.socket.write([0x16, 3, 1, 2, 0, 1])
                _ = try await slow.rest()
                try await eventually { await fixture.server.counts() == (0, 0) }
            }
            try await WebServerFixture.with {
                $0.tls = tls
            } _: { (fixture) async throws in
                #expect(try await ask(fixture.port, ["GET / HTTP/1.0"]).first == "HTTP/1.1 400 Bad Request")
            }
        }
    }

    @Test func uselessCertificatesAreNamed() async throws {
        try await withCertificate { tls in
            try await withCertificate { other in
                let cases = [
                    WebServerTLS(certificateChain: [], privateKey: tls.privateKey),
                    WebServerTLS(certificateChain: Array("nonsense".utf8), privateKey: tls.privateKey),
                    WebServerTLS(certificateChain: tls.certificateChain, privateKey: []),
                    WebServerTLS(certificateChain: tls.certificateChain, privateKey: other.privateKey),
                ]
                for tls in cases {
                    let error = await WebServerFixture.failure { $0.tls = tls }
                    #expect(error?.code == .certificate)
                }
            }
        }
    }
}
