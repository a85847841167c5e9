public import ElementalSecurity
import ElementalWire

/// Which clients a service admits, and how it knows them.
///
/// ```swift
/// configuration.security = .pairedToControl(identity: identity, store: store)
/// ```
public struct ServiceSecurity: Sendable {
    /// What the service requires of its clients.
    public let policy: SecurityPolicy
    /// Identity and trusted clients; `nil` for an open service.
    let keys: Keys?

    struct Keys: Sendable {
        let identity: any Identity
        let store: any TrustStore
    }

    /// Every client may do everything, and nothing is encrypted.
    public static let open = ServiceSecurity(policy: .open, keys: nil)

    /// Clients that are paired may do what their role permits, over an encrypted connection. All others may only read.
    ///
    /// - Parameters:
    ///   - identity: who the service is.
    ///   - store: the clients it trusts. Changes take effect within two seconds, also on present connections.
    public static func pairedToControl(identity: any Identity, store: any TrustStore) -> ServiceSecurity {
        ServiceSecurity(policy: .pairedToControl, keys: Keys(identity: identity, store: store))
    }

    /// Only clients that are paired are admitted, over encrypted connections, and may do what their role permits.
    ///
    /// - Parameters:
    ///   - identity: who the service is.
    ///   - store: the clients it trusts. Changes take effect within two seconds, also on present connections.
    public static func paired(identity: any Identity, store: any TrustStore) -> ServiceSecurity {
        ServiceSecurity(policy: .paired, keys: Keys(identity: identity, store: store))
    }
}
