import ElementalWire

/// A service that admits this client.
package struct AuthorisingService: Sendable, Equatable {
    /// Its fingerprint, which TLS has proved.
    package let fingerprint: Fingerprint
    /// Its name, such as `robot`.
    package let service: String
    /// This client's role there.
    package let role: Role
    /// The session's bytes that have already arrived.
    package let remainder: [UInt8]

    /// The rule for its name, which messages carry.
    package static let nameRule = "to pair, a service needs a name of 1 to 63 bytes without control characters"

    /// Whether a service with that name can pair.
    package static func isValid(name: String) -> Bool { AdmissionText.isService(name) }
}
