import ElementalSecurity
import ElementalWire
import Foundation
import TestSupport
import Testing

@testable import Elemental

/// Another implementation of TLS at the other end: openssl's `s_client` and `s_server`.
@Suite(.backstop)
struct ForeignTLSTests {
    /// Certificates that openssl makes, in a folder that exists during the body.
    private struct Certificates {
        let folder: String

        static func with(_ body: (Certificates) async throws -> Void) async throws {
            try await withFolder { try await body(Certificates(folder: $0)) }
        }

        /// The options with which openssl uses an identity.
        func options(_ identity: any Identity) throws -> [String] {
            guard let identity = identity as? Ed25519Identity else { return [] }
            let path = folder + "/\(identity.fingerprint).pem"
            try identity.pem().write(toFile: path, atomically: true, encoding: .utf8)
            return ["-cert", path, "-key", path]
        }

        /// The options with which openssl uses a new certificate.
        ///
        /// - Parameters:
        ///   - key: how openssl makes the key.
        ///   - issuer: signs it; without one, it is self-signed.
        func options(_ key: [String], issuer: [String] = []) async throws -> [String] {
            let path = folder + "/\(UUID().uuidString).pem"
            // It was valid for a day, and not yet when it is looked at: dates do not count.
            try await ChildProcess.run(
                "openssl",
                ["req", "-x509", "-newkey"] + key + ["-nodes", "-subj", "/CN=somebody", "-days", "1"]
                    + (issuer.isEmpty ? [] : ["-CA", issuer[1], "-CAkey", issuer[3]])
                    + ["-keyout", path + ".key", "-out", path])
            return ["-cert", path, "-key", path + ".key"] + (issuer.isEmpty ? [] : ["-cert_chain", issuer[1]])
        }
    }

    private static let p256 = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]

    /// Which client comes, and whether the service hears what it says.
    enum Client: CaseIterable {
        case paired, unknownP256, withoutCertificate, olderTLS, foreignProtocol, noProtocol, rsa, p384, chain

        var isHeard: Bool { [.paired, .unknownP256].contains(self) }
    }

    @Test(
        "a foreign client is heard with a key that can be pinned, TLS 1.3 and this protocol only",
        arguments: Client.allCases)
    func foreignClients(_ client: Client) async throws {
        try await UnauthorisedPeerTests.withService(.paired) { ends, service, port in
            try await Certificates.with { certificates in
                var options = ["-alpn", "elemental/1"]
                switch client {
                case .paired: options += try certificates.options(ends.client)
                case .unknownP256: options += try await certificates.options(Self.p256)
                case .withoutCertificate: break
                case .olderTLS: options += try certificates.options(ends.client) + ["-tls1_2"]
                case .foreignProtocol: options = try certificates.options(ends.client) + ["-alpn", "h2"]
                case .noProtocol: options = try certificates.options(ends.client)
                case .rsa: options += try await certificates.options(["rsa:2048"])
                case .p384: options += try await certificates.options(["ec", "-pkeyopt", "ec_paramgen_curve:P-384"])
                case .chain:
                    options += try await certificates.options(
                        Self.p256, issuer: try await certificates.options(Self.p256))
                }
                try await Self.openssl(port, options + ["-quiet", "-no_ign_eof"]) { child in
                    // Who is taken for a client is answered to this, that it is no message of admission.
                    try? child.writeLine("x")
                    try await child.waitForExit()
                    #expect(child.lines(of: .output).isEmpty == !client.isHeard, "\(child.transcript)")
                }
            }
            #expect(service.devices.isEmpty)
        }
    }

    private static func openssl(
        _ port: Int, _ options: [String], _ body: (ChildProcess) async throws -> Void
    ) async throws {
        try await ChildProcess.with("openssl", ["s_client", "-connect", "127.0.0.1:\(port)"] + options, body)
    }

    @Test
    func randomBytesInsideTLSEndOnlyTheirOwnConnection() async throws {
        try await UnauthorisedPeerTests.withService(.paired) { ends, service, port in
            let device = try await ends.connect(port)
            try await Certificates.with { certificates in
                let options = try certificates.options(ends.client) + ["-alpn", "elemental/1", "-quiet", "-no_ign_eof"]
                for bytes in ["GET / HTTP/1.1\r\n\r\n", "\u{1}\u{2}\u{3}\u{4}"] {
                    try await Self.openssl(port, options) { child in
                        try child.writeLine(bytes)
                        try await child.waitForExit()
                    }
                }
            }
            #expect(service.devices.count == 1)
            #expect(try await device.ping() > .zero)
            await device.close()
        }
    }

    @Test
    func aSessionTicketIsWorthNothing() async throws {
        try await UnauthorisedPeerTests.withService(.paired) { ends, _, port in
            try await Certificates.with { certificates in
                let ticket = certificates.folder + "/ticket"
                let options = try certificates.options(ends.client) + ["-alpn", "elemental/1"]
                try await Self.openssl(port, options + ["-sess_out", ticket]) { child in
                    // Tickets are sent with the first answer, here to a line that is no message.
                    try child.writeLine("x")
                    try await child.waitForExit()
                }
                #expect(FileManager.default.fileExists(atPath: ticket))
                try await Self.openssl(port, options + ["-sess_in", ticket]) { child in
                    let line = try await child.nextLine(where: { $0.contains(", TLSv1.3, Cipher is") })
                    #expect(line.text.hasPrefix("New"))
                    try child.writeLine("x")
                    try await child.waitForExit()
                }
            }
        }
    }

    /// Which service answers in the place of the paired one, and what its client makes of it.
    enum Service: CaseIterable {
        case paired, anotherKey, noProtocol, foreignProtocol, olderTLS, rsa, chain

        var error: ElementalError.Code {
            switch self {
            // openssl does not speak admission; the test makes it send something else.
            case .paired: .refused
            case .anotherKey: .identityChanged
            default: .connectionFailed
            }
        }
    }

    @Test("a client says who it is and what it wants to the paired key only", arguments: Service.allCases)
    func foreignServices(_ service: Service) async throws {
        let ends = try PairedEnds()
        try await Certificates.with { certificates in
            var options = ["-alpn", "elemental/1"]
            switch service {
            case .paired: options += try certificates.options(ends.service)
            case .anotherKey: options += try await certificates.options(Self.p256)
            case .noProtocol: options = try certificates.options(ends.service)
            case .foreignProtocol: options = try certificates.options(ends.service) + ["-alpn", "h2"]
            case .olderTLS: options += try certificates.options(ends.service) + ["-tls1_2"]
            case .rsa: options += try await certificates.options(["rsa:2048"])
            case .chain:
                options += try await certificates.options(Self.p256, issuer: try await certificates.options(Self.p256))
            }
            let arguments = ["s_server", "-accept", "127.0.0.1:0", "-Verify", "1"]
            try await ChildProcess.with("openssl", arguments + options) { child in
                let line = try await child.nextLine { $0.hasPrefix("ACCEPT ") }
                let port = try #require(line.text.split(separator: ":").last.flatMap { Int($0) })
                let connecting = Task { try await ends.connect(port) }
                if service == .paired {
                    // The client sends its name before it reads this, which is not a message of admission.
                    try await child.nextLine(beginningWith: "CIPHER is")
                    try child.writeLine("x")
                }
                let error = await #expect(throws: ElementalError.self) { try await connecting.value }
                #expect(error?.code == service.error, "\(error.map { "\($0)" } ?? "connected")")
                // Its first message contains its name. openssl ends that line when the connection ends.
                if service == .paired { try await child.nextLine { $0.contains("tester") } }
                await child.end()
                let isTold = child.lines(of: .output).contains { $0.contains("tester") }
                #expect(isTold == (service == .paired), "\(child.transcript)")
            }
        }
    }
}
