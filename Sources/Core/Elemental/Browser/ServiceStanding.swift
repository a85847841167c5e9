import ElementalSecurity
public import ElementalWire
import NIOPosix
import Support

/// Whether a client is paired with a discovered service, judged by the key that the service's TXT record claims. Anyone
/// can publish that: only a connection proves it.
public enum ServiceStanding: Sendable, Hashable {
    /// It is not paired.
    case none
    /// It claims this client's own key, which programs of the same user share.
    case own
    /// It is paired, in this role; `nil` for a role that only newer versions have.
    case paired(Role?)
    /// It is paired, and claims to have another key.
    case keyChanged
    /// It is paired, and claims no key: it offers no encryption.
    case keyMissing

    package init(to service: DiscoveredService, among peers: TrustedPeers, own: Fingerprint) {
        let key = service.shortFingerprint
        self =
            switch peers.match(ConnectionTarget(service), own: own) {
            case .pinned where key == nil: .keyMissing
            case .pinned(let entry) where key != entry.fingerprint.short: .keyChanged
            case .pinned(let entry), .renamed(let entry): .paired(entry.role)
            case .own: .own
            // Another service of a known host must be paired itself.
            case .knownHost, .sibling, .nothing: .none
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
    init(_ endpoint: ServiceEndpoint) {
        switch endpoint {
        case .host(let host, let port): self.init(hosts: [host], port: UInt16(clamping: port))
        case .addresses(let addresses):
            self.init(hosts: addresses.map(\.hostText), port: UInt16(clamping: addresses.first?.port ?? 0))
        }
    }

    init(_ found: DiscoveredService) {
        self.init(found.endpoint)
        (service, instance, advertisedIdentity) = (found.service, found.name, found.shortFingerprint)
    }
}

/// The services that a client trusts, as last read from its store.
package struct TrustedServices: Sendable {
    private let keys: ClientSecurity.Keys
    private var known: TrustWatch.Snapshot?

    /// `nil` if the client has no identity, and so trusts no service.
    package init?(_ security: ClientSecurity) {
        guard let keys = security.keys else { return nil }
        self.keys = keys
    }

    /// Reads the store on a thread that may block, if it has changed.
    ///
    /// - Returns: whether it has changed.
    @discardableResult
    package mutating func update() async throws -> Bool {
        let (store, revision) = (keys.store, known?.revision)
        let read = try await NIOThreadPool.singleton.runIfActive { try TrustWatch.Snapshot(store, since: revision) }
        guard let read else { return false }
        known = read
        return true
    }

    /// The answer is as of the last ``update()``.
    package func standing(to service: DiscoveredService) -> ServiceStanding {
        guard let known else { return .none }
        return ServiceStanding(to: service, among: known.peers, own: keys.identity.fingerprint)
    }

    /// The answer is as of the last ``update()``.
    package func pin(of service: String, named name: String) -> TrustedService? {
        known?.peers.pinned(service, name)
    }
}
