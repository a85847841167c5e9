/// Who this end is: a key pair, and a certificate for TLS that holds the public key.
///
/// ``Ed25519Identity`` is one kept in memory or in a file; an app can conform a type of its own whose key never leaves a
/// Keychain or a Secure Enclave.
public protocol Identity: Sendable {
    /// The fingerprint of the public key, by which peers know this end.
    var fingerprint: Fingerprint { get }
    /// The self-signed X.509 certificate, DER.
    var certificate: [UInt8] { get }
    /// The private key of that certificate.
    var privateKey: IdentityKey { get }
}
