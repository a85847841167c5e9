/// An identity with an Ed25519 key in memory. It can be written to a file or a Keychain as PEM.
public struct Ed25519Identity: Identity {
    public let fingerprint: Fingerprint
    public let certificate: [UInt8]
    public let privateKey: IdentityKey
    /// The file that it was read from; `nil` if it is only in memory.
    private var file: IdentityFile?

    private static let keyLabel = "PRIVATE KEY"
    private static let certificateLabel = "CERTIFICATE"
    private static let machinePrefix = "Machine: "
    private static let explanation =
        "The identity of one user on one machine. Keep it secret: anyone who has it can impersonate this user."

    /// The PKCS#8 bytes before the 32 bytes of the key (RFC 8410, section 7).
    private static let privateKeyPrefix =
        [DERTag.sequence, 0x2E, DERTag.integer, 1, 0, DERTag.sequence, 5] + PublicKeyInfo.ed25519Identifier
        + [DERTag.octetString, 0x22, DERTag.octetString, 0x20]

    /// Creates an identity with a random key.
    public init() {
        var seed = Primitives.randomBytes(32)
        defer { Primitives.erase(&seed) }
        self.init(seed: seed, serialNumber: Primitives.randomBytes(16))
    }

    init(seed: [UInt8], serialNumber: [UInt8]) {
        fingerprint = Fingerprint(publicKey: PublicKeyInfo.ed25519(Primitives.ed25519PublicKey(seed: seed)))
        certificate = SelfSignedCertificate.make(seed: seed, serialNumber: serialNumber)
        privateKey = .pkcs8(Self.privateKeyPrefix + seed)
    }

    /// Reads an identity from PEM: a private key and its certificate, as ``pem()`` writes them.
    ///
    /// - Parameter pem: at most 16 KiB.
    /// - Throws: ``SecurityError/Code/corrupt``, also if the certificate does not belong to the key;
    ///   ``SecurityError/Code/unsupportedKey`` for keys that are not Ed25519.
    public init(pem: String) throws(SecurityError) { self = try Self.read(Array(pem.utf8)).identity }

    /// The private key and the certificate as PEM. Anyone with this text can act as this identity.
    public func pem() -> String { text(machine: nil) }

    public func checkIsCurrent() throws { try file?.check(fingerprint) }

    public var watchedDirectories: [String]? { file.map { [$0.directory] } ?? [] }

    // MARK: The file's text

    /// The same identity, valid only while this file contains it.
    func kept(in file: IdentityFile) -> Ed25519Identity {
        var identity = self
        identity.file = file
        return identity
    }

    /// - Parameter machine: identifies the machine of the identity; `nil` if the machine cannot be identified.
    func text(machine: [UInt8]?) -> String {
        guard case .pkcs8(let key) = privateKey else { preconditionFailure("an Ed25519Identity has its key in memory") }
        var preamble = [Self.explanation]
        if let machine { preamble.append(Self.machinePrefix + Hexadecimal.text(machine)) }
        return PEM(
            preamble: preamble,
            blocks: [
                PEM.Block(label: Self.keyLabel, bytes: key),
                PEM.Block(label: Self.certificateLabel, bytes: certificate),
            ]
        ).text
    }

    /// Parses the text of a file.
    static func read(_ text: [UInt8]) throws(SecurityError) -> (identity: Ed25519Identity, machine: [UInt8]?) {
        guard let pem = PEM(text), pem.blocks.map(\.label) == [keyLabel, certificateLabel] else {
            throw SecurityError(.corrupt, "it is not PEM with a private key followed by a certificate")
        }
        let machines = pem.preamble.filter { $0.hasPrefix(machinePrefix) }
        let machine = machines.first.flatMap { Hexadecimal.bytes($0.dropFirst(machinePrefix.count)) }
        guard machines.count <= 1, machines.isEmpty == (machine == nil) else {
            throw SecurityError(.corrupt, "it needs one line \"Machine:\" with hexadecimal digits")
        }
        return (try Ed25519Identity(privateKey: pem.blocks[0].bytes, certificate: pem.blocks[1].bytes), machine)
    }

    private init(privateKey: [UInt8], certificate: [UInt8]) throws(SecurityError) {
        guard privateKey.count == Self.privateKeyPrefix.count + 32, privateKey.starts(with: Self.privateKeyPrefix)
        else {
            throw SecurityError(.unsupportedKey, "its private key is not Ed25519 in PKCS#8")
        }
        var seed = Array(privateKey.dropFirst(Self.privateKeyPrefix.count))
        defer { Primitives.erase(&seed) }
        let publicKey = PublicKeyInfo.ed25519(Primitives.ed25519PublicKey(seed: seed))
        let peer: PeerCertificate
        do {
            peer = try PeerCertificate(certificate: certificate)
        } catch {
            throw SecurityError(.corrupt, "its certificate cannot be read")
        }
        guard peer.publicKey == publicKey else {
            throw SecurityError(.corrupt, "its certificate does not match its private key")
        }
        fingerprint = peer.fingerprint
        self.certificate = certificate
        self.privateKey = .pkcs8(privateKey)
    }
}

extension Ed25519Identity: CustomStringConvertible {
    /// The fingerprint.
    public var description: String { "\(fingerprint)" }
}
