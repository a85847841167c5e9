/// Identifies an end: the SHA-256 of its public key as certificates hold it (SubjectPublicKeyInfo), for any kind of
/// key.
public struct Fingerprint: Sendable, Hashable {
    /// 32 bytes.
    public let bytes: [UInt8]

    /// The fingerprint of a public key.
    ///
    /// - Parameter publicKey: its SubjectPublicKeyInfo, DER (RFC 5280).
    public init(publicKey: [UInt8]) { bytes = Primitives.sha256(publicKey) }

    /// - Parameter bytes: 32 bytes; `nil` for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads all 52 base32 characters, in groups or not, in upper or lower case. A part of them is not accepted: a
    /// shorter fingerprint can be forged.
    public init?(_ text: String) {
        guard let bytes = Base32.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// The first 16 characters, for people and for TXT records; it proves nothing.
    public var short: String { String(Base32.encode(bytes).prefix(16)) }
}

extension Fingerprint: CustomStringConvertible {
    /// The whole fingerprint in base32 (RFC 4648, lower case), in groups of four.
    public var description: String { Base32.grouped(bytes) }
}
