/// The identity of this end: a key pair, and a certificate for TLS that contains the public key.
///
/// ``Ed25519Identity`` is in memory or in a file. An app can conform its own type, whose key never leaves a Keychain or
/// a Secure Enclave.
public protocol Identity: Sendable {
    /// The fingerprint of the public key, by which peers recognise this end.
    var fingerprint: Fingerprint { get }
    /// The self-signed X.509 certificate, DER.
    var certificate: [UInt8] { get }
    /// The private key of that certificate.
    var privateKey: IdentityKey { get }
    /// Throws once the stored identity was replaced or removed: a service then ends with that error, and a client no
    /// longer connects. Services call it once a second, on a thread that may block. By default nothing is checked.
    func checkIsCurrent() throws
    /// The directories of the files that change when ``checkIsCurrent()`` begins to throw. On Linux the framework then
    /// calls it when the system reports a change in these directories, and otherwise once a minute. `nil` by default.
    var watchedDirectories: [String]? { get }
}

extension Identity {
    public func checkIsCurrent() throws {}
    public var watchedDirectories: [String]? { nil }
}
