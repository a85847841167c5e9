/// Identifies an end: the SHA-256 of its public key in the form of certificates (SubjectPublicKeyInfo), for any kind of
/// key.
public struct Fingerprint: Sendable, Hashable {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// Creates the fingerprint of a public key.
    ///
    /// - Parameter publicKey: the SubjectPublicKeyInfo, DER (RFC 5280).
    public init(publicKey: [UInt8]) { bytes = Primitives.sha256(publicKey) }

    /// Creates a fingerprint from its bytes.
    ///
    /// - Parameter bytes: 32 bytes; any other number gives `nil`.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Parses all 52 base32 characters, with or without groups, in upper or lower case. A shorter text is refused,
    /// because a shorter fingerprint can be forged.
    public init?(_ text: String) {
        guard let bytes = Base32.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// The first 16 characters, for users and for TXT records. It proves nothing.
    public var short: String { String(Base32.encode(bytes).prefix(16)) }
}

extension Fingerprint: CustomStringConvertible {
    /// The whole fingerprint in base32 (RFC 4648, lower case), in groups of four.
    public var description: String { Base32.grouped(bytes) }
}
