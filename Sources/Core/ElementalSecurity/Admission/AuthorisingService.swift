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

    /// What its name has to be, because messages carry it.
    package static let nameRule = "a service that pairs has a name of 1 to 63 bytes, without control characters"

    /// Whether a service with that name can pair.
    package static func isValid(name: String) -> Bool { AdmissionText.isService(name) }
}
