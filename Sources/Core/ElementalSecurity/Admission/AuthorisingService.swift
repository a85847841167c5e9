import ElementalWire

/// A service that admits this client.
package struct AuthorisingService: Sendable, Equatable {
    /// Its fingerprint, which TLS has proved.
    package let fingerprint: Fingerprint
    /// Its name, such as `robot`.
    package let service: String
    /// What this client may do there.
    package let role: Role
    /// What arrived of the session already.
    package let remainder: [UInt8]
}
