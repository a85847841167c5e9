public import ElementalSecurity
import ElementalWire
import NIOCore
import NIOPosix

/// Which clients a service admits, and how it authenticates them.
///
/// ```swift
/// configuration.security = .pairedToControl(identity: identity, store: store)
/// ```
public struct ServiceSecurity: Sendable {
    /// What the service requires of its clients.
    public let policy: SecurityPolicy
    /// `nil` for an open service. Tests can set another policy without keys; then there are no encrypted connections.
    let keys: Keys?

    struct Keys: Sendable {
        let identity: any Identity
        let store: any TrustStore
    }

    /// Every client may do everything, and nothing is encrypted.
    public static let open = ServiceSecurity(policy: .open, keys: nil)

    /// Paired clients may do what their role permits, over encrypted connections. All others may only read.
    ///
    /// - Parameters:
    ///   - identity: the service's identity.
    ///   - store: the clients it trusts. Changes take effect within two seconds, also on present connections.
    public static func pairedToControl(identity: any Identity, store: any TrustStore) -> ServiceSecurity {
        ServiceSecurity(policy: .pairedToControl, keys: Keys(identity: identity, store: store))
    }

    /// Only paired clients are admitted, over encrypted connections, and may do what their role permits.
    ///
    /// - Parameters:
    ///   - identity: the service's identity.
    ///   - store: the clients it trusts. Changes take effect within two seconds, also on present connections.
    public static func paired(identity: any Identity, store: any TrustStore) -> ServiceSecurity {
        ServiceSecurity(policy: .paired, keys: Keys(identity: identity, store: store))
    }
}

/// Identity and trusted clients of a service that is not open, as read when it starts.
struct ServiceKeys: Sendable {
    let identity: any Identity
    let tls: TLSIdentity
    let store: any TrustStore
    let snapshot: TrustWatch.Snapshot
    let limits: AcceptLimits
}

extension ServiceSecurity {
    /// - Returns: `nil` for an open service.
    /// - Throws: ``ElementalError/Code/listeningFailed``: the service must not start then.
    func load(now: @escaping @Sendable () -> NIODeadline) async throws(ElementalError) -> ServiceKeys? {
        guard let keys else { return nil }
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                try keys.identity.checkIsCurrent()
                return ServiceKeys(
                    identity: keys.identity, tls: try TLSIdentity(keys.identity), store: keys.store,
                    snapshot: try TrustWatch.Snapshot(keys.store), limits: AcceptLimits(now: now))
            }
        } catch {
            throw ElementalError(
                .listeningFailed, "the service does not start without its identity and trusted clients: \(error)",
                cause: error)
        }
    }
}
