import NIOCore
import NIOSSL

/// TLS 1.3 with a certificate of either end, of which any will do: what is measured is what it costs to look at one.
struct TLS {
    private let server: NIOSSLContext
    private let client: NIOSSLContext

    /// - Parameter identity: a PEM file with a key and a certificate.
    init(identity: String) throws {
        let certificates = try NIOSSLCertificate.fromPEMFile(identity).map { NIOSSLCertificateSource.certificate($0) }
        let key = try NIOSSLPrivateKey(file: identity, format: .pem)
        server = try NIOSSLContext(
            configuration: Self.configure(
                .makeServerConfiguration(certificateChain: certificates, privateKey: .privateKey(key))))
        var configuration = Self.configure(.makeClientConfiguration())
        configuration.certificateChain = certificates
        configuration.privateKey = .privateKey(key)
        client = try NIOSSLContext(configuration: configuration)
    }

    private static func configure(_ configuration: TLSConfiguration) -> TLSConfiguration {
        var configuration = configuration
        configuration.minimumTLSVersion = .tlsv13
        configuration.verifySignatureAlgorithms = [.ed25519]
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        return configuration
    }

    func makeServerHandler() -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: server) { _, promise in promise.succeed(.certificateVerified) }
    }

    func makeClientHandler() throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: client, serverHostname: nil) { _, promise in
            promise.succeed(.certificateVerified)
        }
    }
}
