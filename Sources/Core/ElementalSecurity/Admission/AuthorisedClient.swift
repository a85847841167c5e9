import ElementalWire

/// A client that a service admits.
package struct AuthorisedClient: Sendable, Equatable {
    /// Its fingerprint, which TLS has proved.
    package let fingerprint: Fingerprint
    /// The name that it gives itself: 1 to 64 bytes, without control characters.
    package let name: String
    /// What it may do: the lesser of what it asked for and what it was granted.
    package let role: Role
    /// What arrived of the session already.
    package let remainder: [UInt8]
}

/// A client that has paired, for the service's store.
package struct PairedClient: Sendable, Equatable {
    /// Its fingerprint, which TLS has proved.
    package let fingerprint: Fingerprint
    /// The name that it gives itself: 1 to 64 bytes, without control characters.
    package let name: String
    /// The lesser of the window's role and the one that it asked for.
    package let role: Role
    /// The service that it may use.
    package let service: String
    /// Who opened the window over the network; `nil` for the service's own host.
    package let pairedBy: Fingerprint?
}

/// A service that a client has paired with, for the client's store.
package struct PairedService: Sendable, Equatable {
    /// Its fingerprint, which TLS has proved.
    package let fingerprint: Fingerprint
    /// Its name, such as `robot`.
    package let service: String
    /// The role that it grants.
    package let role: Role
}
