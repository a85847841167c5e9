import ElementalWire

@testable import ElementalSecurity

extension Fingerprint {
    /// The fingerprint of a key that nobody has.
    static func sample(_ number: Int) -> Fingerprint { Fingerprint(publicKey: Array("key \(number)".utf8)) }
}

extension TrustedClient {
    /// A client that may control robots.
    static func sample(
        _ number: Int, name: String? = nil, role: Role = .control, services: Services = ["robot"],
        pairedBy: Fingerprint? = nil
    ) -> TrustedClient {
        TrustedClient(
            fingerprint: .sample(number), name: name ?? "client \(number)", role: role, services: services,
            pairedBy: pairedBy)
    }
}

extension TrustedService {
    /// A robot with that key.
    static func sample(
        _ number: Int, service: String = "robot", instance: String? = nil, hosts: [Host] = [], role: Role = .control
    ) -> TrustedService {
        TrustedService(
            fingerprint: .sample(number), service: service, instance: instance ?? "Rover \(number)", hosts: hosts,
            role: role)
    }
}
