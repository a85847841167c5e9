/// The private key of an ``Identity``. Descriptions never show it.
public enum IdentityKey: Sendable {
    /// A key in memory: PKCS#8 (RFC 5958), DER.
    case pkcs8([UInt8])
    /// A key that cannot be exported, such as a key of a Secure Enclave.
    ///
    /// `sign` returns the signature of a message in the form of TLS 1.3: Ed25519 (64 bytes) for an Ed25519 key; ECDSA
    /// with SHA-256, DER, for a P-256 key. It is called on any thread, and may block.
    case external(ExternalKeyKind, sign: @Sendable (_ message: [UInt8]) throws -> [UInt8])

    /// The kinds of key that this framework's peers accept.
    public enum ExternalKeyKind: Sendable, Hashable {
        /// Ed25519 (RFC 8032).
        case ed25519
        /// ECDSA on the curve P-256, with SHA-256.
        case p256
    }
}

extension IdentityKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The same text for all keys.
    public var description: String { "a private key" }
    /// The same text for all keys.
    public var debugDescription: String { description }
    /// No contents, so that `dump` and string interpolation of a type that contains a key do not print the key.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
