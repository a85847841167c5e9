import ElementalSecurity
public import ElementalWire
import NIOPosix

/// Whether a client is paired with a discovered service, judged by the key that the service's TXT record claims. Anyone
/// can publish that: only a connection proves it.
public enum ServiceStanding: Sendable, Hashable {
    /// It is not paired.
    case none
    /// It claims to have this client's own key, as another program of the same user has.
    case own
    /// It is paired, in this role; `nil` for a role of a newer version.
    case paired(Role?)
    /// It is paired, and claims to have another key.
    case keyChanged
    /// It is paired, and claims no key: it offers no encryption.
    case keyMissing

    /// - Parameters:
    ///   - service: what the browser found.
    ///   - peers: the services that the client trusts.
    ///   - own: the client's fingerprint.
    package init(to service: DiscoveredService, among peers: TrustedPeers, own: Fingerprint) {
        switch peers.match(ConnectionTarget(service), own: own) {
        case .pinned(let entry):
            guard let key = service.shortFingerprint else {
                self = .keyMissing
                return
            }
            self = key == entry.fingerprint.short ? .paired(entry.role) : .keyChanged
        case .renamed(let entry): self = .paired(entry.role)
        case .own: self = .own
        // Another service of a known host must be paired itself.
        case .knownHost, .sibling, .nothing: self = .none
        }
    }

    /// The standing as one word, for programs: `none`, `own`, `paired`, `keyChanged`, `keyMissing`.
    public var code: String {
        switch self {
        case .none: "none"
        case .own: "own"
        case .paired: "paired"
        case .keyChanged: "keyChanged"
        case .keyMissing: "keyMissing"
        }
    }

    /// The role in which it is paired; `nil` if it is not paired or this version does not know the role.
    public var role: Role? { if case .paired(let role) = self { role } else { nil } }
}

extension ConnectionTarget {
    init(_ service: DiscoveredService) {
        self.init(
            service: service.service, instance: service.name, hosts: service.addresses,
            port: UInt16(clamping: service.port), advertisedIdentity: service.shortFingerprint)
    }
}

/// The services that a client trusts, read again when they have changed.
package struct TrustedServices: Sendable {
    private let own: Fingerprint
    private let store: any TrustStore
    private var known: TrustWatch.Snapshot?

    /// - Parameter own: the client's fingerprint.
    package init(own: Fingerprint, store: any TrustStore) {
        self.own = own
        self.store = store
    }

    /// `nil` if the client has no identity, and so trusts no service.
    package init?(_ security: ClientSecurity) {
        guard let keys = security.keys else { return nil }
        self.init(own: keys.identity.fingerprint, store: keys.store)
    }

    /// Reads the store on a thread that may block, if it has changed.
    ///
    /// - Returns: whether it has.
    /// - Throws: what the store throws if it cannot be read.
    @discardableResult
    package mutating func update() async throws -> Bool {
        let (store, revision) = (store, known?.revision)
        let read = try await NIOThreadPool.singleton.runIfActive { try TrustWatch.Snapshot(store, since: revision) }
        guard let read else { return false }
        known = read
        return true
    }

    /// How the client stands to a service, as of the last ``update()``.
    package func standing(to service: DiscoveredService) -> ServiceStanding {
        guard let known else { return .none }
        return ServiceStanding(to: service, among: known.peers, own: own)
    }

    /// The service that is paired under a name, as of the last ``update()``.
    package func pin(of service: String, named name: String) -> TrustedService? {
        known?.peers.pinned(service, name)
    }
}
