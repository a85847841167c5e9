/// The public keys that peers may have, in the form of certificates: SubjectPublicKeyInfo, DER (RFC 5280). Only one
/// encoding of each kind of key is accepted, so that a key has one fingerprint.
enum PublicKeyInfo {
    /// 1.3.101.112 (RFC 8410).
    static let ed25519Identifier: [UInt8] = [DERTag.objectIdentifier, 3, 0x2B, 0x65, 0x70]

    /// The bytes before the 32 bytes of a key.
    private static let ed25519Prefix =
        [DERTag.sequence, 0x2A, DERTag.sequence, 5] + ed25519Identifier + [0x03, 0x21, 0]

    /// The bytes before a point's two coordinates of 32 bytes each: id-ecPublicKey, prime256v1, uncompressed (RFC
    /// 5480).
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// The encoding of an Ed25519 key of 32 bytes.
    static func ed25519(_ publicKey: [UInt8]) -> [UInt8] { ed25519Prefix + publicKey }

    /// Whether an encoded key is of an accepted kind.
    static func isAccepted(_ encoded: ArraySlice<UInt8>) -> Bool {
        encoded.count == ed25519Prefix.count + 32 && encoded.starts(with: ed25519Prefix)
            || encoded.count == p256Prefix.count + 64 && encoded.starts(with: p256Prefix)
    }
}
