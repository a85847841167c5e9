/// The private key of an ``Identity``. It never appears in descriptions.
public enum IdentityKey: Sendable {
    /// A key that is kept in memory: PKCS#8 (RFC 5958), DER.
    case pkcs8([UInt8])
    /// A key that cannot be exported, as that of a Secure Enclave.
    ///
    /// `sign` returns the signature of a message as TLS 1.3 has it: Ed25519 (64 bytes) for an Ed25519 key; ECDSA with
    /// SHA-256, DER, for a P-256 key. It may be called on any thread, and may block.
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
    public var debugDescription: String { description }
    /// Without contents, so that `dump` and string interpolation of a type that holds a key do not print it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
