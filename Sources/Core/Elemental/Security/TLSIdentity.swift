import ElementalSecurity
import NIOCore
import NIOPosix
import NIOSSL

/// The TLS configuration of an identity: version 1.3, the protocol `elemental/1`, and a certificate from each end. A
/// peer's fingerprint is that of the key in its certificate.
struct TLSIdentity: Sendable {
    /// The ALPN name of the protocol inside TLS. TLS goes on if the ends do not agree, so both check it.
    static let applicationProtocol = "elemental/1"

    let fingerprint: Fingerprint
    private let server: TLSConfiguration
    private let client: TLSConfiguration

    /// - Throws: ``ElementalSecurity/SecurityError/Code/corrupt`` if TLS cannot use it.
    init(_ identity: any Identity) throws(SecurityError) {
        fingerprint = identity.fingerprint
        do {
            let certificate = try NIOSSLCertificate(bytes: identity.certificate, format: .der)
            let key =
                switch identity.privateKey {
                case .pkcs8(let bytes): try NIOSSLPrivateKey(bytes: bytes, format: .der)
                case .external(let kind, let sign): NIOSSLPrivateKey(customPrivateKey: ExternalKey(kind, sign))
                }
            server = Self.configure(
                .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
            var client = Self.configure(.makeClientConfiguration())
            client.certificateChain = [.certificate(certificate)]
            client.privateKey = .privateKey(key)
            self.client = client
            // Only this finds a key that does not belong to the certificate.
            _ = try NIOSSLContext(configuration: client)
        } catch {
            // The errors of the TLS library name only its source files and lines.
            throw SecurityError(
                .corrupt,
                "TLS cannot use the certificate or the private key of this program's identity: one of them is damaged, or "
                    + "they do not belong together")
        }
    }

    private static func configure(_ configuration: TLSConfiguration) -> TLSConfiguration {
        var configuration = configuration
        configuration.minimumTLSVersion = .tlsv13
        configuration.applicationProtocols = [applicationProtocol]
        // By default Ed25519 is not verified.
        configuration.verifySignatureAlgorithms = [.ed25519, .ecdsaSecp256R1Sha256]
        // The callbacks below replace BoringSSL's checks of names, dates and issuers. `.none` would not call them.
        configuration.certificateVerification = .noHostnameVerification
        // Otherwise the system's roots would be read from the disk for every context.
        configuration.trustRoots = .certificates([])
        // TLS does not wait for the peer's `close_notify`: the session has its own time limit, and has closed its side
        // before.
        configuration.shutdownTimeout = .zero
        return configuration
    }

    /// Any client that proves a key completes the handshake. Each connection has its own context, which takes 20 µs, so
    /// that a session ticket of one means nothing to another: a client that resumes a session could come back after it
    /// was revoked.
    func makeServerHandler() throws -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: try NIOSSLContext(configuration: server)) { certificates, promise in
            promise.succeed(Self.fingerprint(of: certificates) == nil ? .failed : .certificateVerified)
        }
    }

    /// - Parameter accepts: called before the client sends its certificate.
    func makeClientHandler(accepts: @escaping @Sendable (Fingerprint) -> Bool) throws -> NIOSSLClientHandler {
        // Services have no server name, and it would be sent unencrypted.
        try NIOSSLClientHandler(context: NIOSSLContext(configuration: client), serverHostname: nil) {
            certificates, promise in
            let isAccepted = Self.fingerprint(of: certificates).map(accepts) == true
            promise.succeed(isAccepted ? .certificateVerified : .failed)
        }
    }

    /// The identity that the peer proved, once the handshake is complete.
    static func fingerprint(of pipeline: ChannelPipeline) -> Fingerprint? {
        // A closed channel throws.
        guard let certificate = try? pipeline.syncOperations.nioSSL_peerCertificate() else { return nil }
        return fingerprint(of: [certificate])
    }

    /// The identity in a certificate; `nil` for a chain, and for kinds of keys that the two ends do not verify.
    private static func fingerprint(of certificates: [NIOSSLCertificate]) -> Fingerprint? {
        guard certificates.count == 1, let bytes = try? certificates[0].toDERBytes() else { return nil }
        return try? PeerCertificate(certificate: bytes).fingerprint
    }
}

/// A private key that cannot be exported: its holder signs, on a thread that may block.
final class ExternalKey: NIOSSLCustomPrivateKey, Hashable {
    let signatureAlgorithms: [SignatureAlgorithm]
    private let makeSignature: @Sendable ([UInt8]) throws -> [UInt8]

    init(_ kind: IdentityKey.ExternalKeyKind, _ sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
        switch kind {
        case .ed25519: signatureAlgorithms = [.ed25519]
        case .p256: signatureAlgorithms = [.ecdsaSecp256R1Sha256]
        }
        makeSignature = sign
    }

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        let message = [UInt8](data.readableBytesView)
        return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) { [makeSignature] in
            ByteBuffer(bytes: try makeSignature(message))
        }
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    static func == (a: ExternalKey, b: ExternalKey) -> Bool { a === b }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
