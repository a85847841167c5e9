import ClientTransport
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

@testable import SignalR

private let openssl = "/usr/bin/openssl"

/// Servers with unacceptable TLS settings, and the error messages about them.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl), "openssl makes the certificates"))
struct TLSFailureTests {
    /// A self-signed certificate and its key, during the body.
    private func withCertificate(
        for name: String = "localhost", from start: String = "20200101000000Z", to end: String = "20491231000000Z",
        _ body: (_ certificate: String, _ key: String) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let configuration = """
                [ca]
                default_ca=d
                [d]
                database=\(folder)/index
                serial=\(folder)/serial
                new_certs_dir=\(folder)
                default_md=sha256
                policy=p
                x509_extensions=x
                [p]
                commonName=supplied
                [x]
                subjectAltName=DNS:\(name)
                """
            for (file, text) in [("ca", configuration), ("index", ""), ("serial", "01\n")] {
                try text.write(toFile: "\(folder)/\(file)", atomically: false, encoding: .utf8)
            }
            let (key, request, certificate) = ("\(folder)/key", "\(folder)/request", "\(folder)/certificate")
            try await ChildProcess.run(
                openssl,
                ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj"]
                    + ["/CN=\(name)", "-keyout", key, "-out", request])
            try await ChildProcess.run(
                openssl,
                ["ca", "-batch", "-notext", "-selfsign", "-config", "\(folder)/ca", "-keyfile", key, "-in", request]
                    + ["-startdate", start, "-enddate", end, "-out", certificate])
            try await body(certificate, key)
        }
    }

    /// The error of a connection to a server on 127.0.0.1 with these settings.
    private func failure(
        _ certificate: String, _ key: String, trusts: Bool = true, host: String = "localhost",
        _ change: (inout TLSConfiguration) -> Void = { _ in },
        client: (inout TLSConfiguration) -> Void = { _ in }, answer: String? = nil
    ) async throws -> SignalRError {
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        change(&settings)
        let context = try NIOSSLContext(configuration: settings)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    if let answer { try channel.pipeline.syncOperations.addHandler(AnswerHandler(answer)) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        var mine = TLSConfiguration.makeClientConfiguration()
        if trusts { mine.trustRoots = .file(certificate) }
        client(&mine)
        let error = await failure("https://\(host):\(port)/hub", mine)
        try await server.close()
        return try #require(error)
    }

    private func failure(_ url: String, _ settings: TLSConfiguration) async -> SignalRError? {
        let connection = patientHub(url: url).withOptions { $0.tlsConfiguration = settings }.build()
        return await signalRError { try await connection.start() }
    }

    private func check(_ error: SignalRError, _ kind: TLSFailure.Kind, _ words: String) {
        #expect(error.code == .tlsFailed)
        #expect((error.cause as? TLSFailure)?.kind == kind, "\(error)")
        #expect(error.description.contains(words), "\(error)")
        #expect(!error.description.contains("/"), "it names files: \(error)")
        #expect(!error.description.contains("OPENSSL"), "\(error)")
    }

    @Test
    func invalidCertificates() async throws {
        try await withCertificate { certificate, key in
            check(
                try await failure(certificate, key, trusts: false), .untrustedCertificate,
                "not signed by a trusted authority")
        }
        try await withCertificate(to: "20200201000000Z") { certificate, key in
            check(try await failure(certificate, key), .expiredCertificate, "expired on 2020-02-01")
        }
        try await withCertificate(from: "20480101000000Z") { certificate, key in
            check(try await failure(certificate, key), .futureCertificate, "2048-01-01")
        }
        try await withCertificate(for: "elsewhere.example") { certificate, key in
            check(try await failure(certificate, key), .otherHost, "for another host")
        }
    }

    @Test
    func aRedirectThatLeavesTLSIsRefused() async throws {
        // Nobody listens there: who follows ends with another error.
        let plain = "http://127.0.0.1:\(try PortLease.port())/hub"
        let body = #"{"url":"\#(plain)","accessToken":"theirs"}"#
        try await withCertificate { certificate, key in
            let error = try await failure(
                certificate, key, answer: "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            #expect(error.code == .negotiationFailed && error.message.contains("from TLS to \(plain)"), "\(error)")
        }
    }

    @Test
    func endsThatDoNotAgree() async throws {
        try await withCertificate { certificate, key in
            check(
                try await failure(
                    certificate, key, { $0.maximumTLSVersion = .tlsv12 }, client: { $0.minimumTLSVersion = .tlsv13 }),
                .noCommonVersion, "no TLS version")
            // One that wants a certificate of the client says less with an earlier version.
            for (version, kind) in [(TLSVersion.tlsv12, TLSFailure.Kind.refused), (.tlsv13, .wantsCertificate)] {
                let wanting = try await failure(
                    certificate, key,
                    {
                        $0.maximumTLSVersion = version
                        $0.certificateVerification = .noHostnameVerification
                    })
                check(wanting, kind, "a client certificate")
            }
        }
    }

    @Test(arguments: [("HTTP/1.1 400 Bad Request\r\n\r\n", .noTLS), (nil, .closed)] as [(String?, TLSFailure.Kind)])
    func serversWithoutTLS(_ answer: String?, _ kind: TLSFailure.Kind) async throws {
        let (listener, port) = try RawSocket.listen()
        async let answered: Void = {
            let peer = try await listener.accept()
            _ = try await peer.readSome()
            if let answer { try peer.write(Array(answer.utf8)) } else { peer.closeOutput() }
            _ = try? await peer.readToEnd()
        }()
        let error = await failure("https://127.0.0.1:\(port)/hub", .makeClientConfiguration())
        try await answered
        #expect((error?.cause as? TLSFailure)?.kind == kind, "\(String(describing: error))")
        #expect(error?.description.contains("OPENSSL") == false)
    }
}

/// Answers whatever comes with the same bytes.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: String

    init(_ answer: String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
    }
}
