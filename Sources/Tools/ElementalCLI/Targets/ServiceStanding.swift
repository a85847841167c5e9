import Elemental
import ElementalSecurity
import ElementalWire

/// How this user stands to a service that was found, as far as the service's TXT record says which key it has. Anyone can
/// publish that: only a connection proves it.
enum ServiceStanding: Sendable, Hashable {
    /// It is not paired.
    case none
    /// It says that it has this user's own key.
    case own
    /// It is paired, in this role; `nil` for a role of a newer version.
    case paired(Role?)
    /// It is paired, and says that it has another key.
    case keyChanged
    /// It is paired, and says nothing of a key: it offers no encryption.
    case keyMissing

    /// - Parameter own: this user's fingerprint.
    init(to service: DiscoveredService, among peers: TrustedPeers, own: Fingerprint) {
        let target = ConnectionTarget(
            service: service.service, instance: service.name, hosts: service.addresses,
            port: UInt16(clamping: service.port), advertisedIdentity: service.shortFingerprint)
        switch peers.match(target, own: own) {
        case .pinned(let entry):
            guard let key = service.shortFingerprint else {
                self = .keyMissing
                return
            }
            self = key == entry.fingerprint.short ? .paired(entry.role) : .keyChanged
        case .renamed(let entry): self = .paired(entry.role)
        case .own: self = .own
        // Another service of a host that is known has to be paired itself.
        case .knownHost, .nothing: self = .none
        }
    }

    /// The standing as one word, for programs.
    var code: String {
        switch self {
        case .none: "none"
        case .own: "own"
        case .paired: "paired"
        case .keyChanged: "keyChanged"
        case .keyMissing: "keyMissing"
        }
    }

    var role: Role? { if case .paired(let role) = self { role } else { nil } }
}

/// The services that this user trusts, read again when that has changed.
struct TrustedServices: Sendable {
    private let options: StateOptions
    private var state: SecurityState?
    private var known: (peers: TrustedPeers, revision: TrustRevision)?

    init(_ options: StateOptions) { self.options = options }

    /// Reads them if they have changed.
    ///
    /// - Throws: `SecurityError` if they cannot be read.
    mutating func update() async throws {
        if state == nil { state = try await options.openForConnecting() }
        guard let store = state?.trust else { return }
        let revision = known?.revision
        let read = try await Blocking.run { () -> (peers: TrustedPeers, revision: TrustRevision)? in
            let current = store.revision()
            return current == revision ? nil : (try store.read(), current)
        }
        known = read ?? known
    }

    /// How this user stands to a service, as of the last ``update()``.
    func standing(to service: DiscoveredService) -> ServiceStanding {
        guard let state, let known else { return .none }
        return ServiceStanding(to: service, among: known.peers, own: state.identity.fingerprint)
    }
}
