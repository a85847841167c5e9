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
    /// Throws once this identity was replaced or removed where it is kept: a service then ends with that error, and a
    /// client no longer connects. Services call it once a second, on a thread that may block. By default nothing is
    /// checked.
    func checkIsCurrent() throws
    /// The directories of which one has a file that changes when ``checkIsCurrent()`` begins to throw: on Linux services
    /// then call it when the system reports a change, and otherwise once a minute. `nil` by default.
    var watchedDirectories: [String]? { get }
}

extension Identity {
    public func checkIsCurrent() throws {}
    public var watchedDirectories: [String]? { nil }
}
