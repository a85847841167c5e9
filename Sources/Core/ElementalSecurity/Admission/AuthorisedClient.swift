import ElementalWire

/// A client that a service admits.
package struct AuthorisedClient: Sendable, Equatable {
    /// Its fingerprint, which TLS has proved.
    package let fingerprint: Fingerprint
    /// The name that it gives itself: 1 to 64 bytes, without control characters.
    package let name: String
    /// Its role: the lesser of the requested role and the one that it was granted.
    package let role: Role
    /// The session's bytes that have already arrived.
    package let remainder: [UInt8]
}

/// A client that has paired, for the service's store.
package struct PairedClient: Sendable, Equatable {
    /// Its fingerprint, which TLS has proved.
    package let fingerprint: Fingerprint
    /// The name that it gives itself: 1 to 64 bytes, without control characters.
    package let name: String
    /// The lesser of the window's role and the requested one.
    package let role: Role
    /// The service that it may use.
    package let service: String
    /// The admin that opened the window over the network; `nil` for the service's own host.
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
