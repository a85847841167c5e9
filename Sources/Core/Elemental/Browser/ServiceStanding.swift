public import ElementalSecurity
public import ElementalWire

/// How a client stands to a service that was found, as far as the service's TXT record says which key it has. Anyone can
/// publish that: only a connection proves it.
public enum ServiceStanding: Sendable, Hashable {
    /// It is not paired.
    case none
    /// It says that it has this client's own key, as the programs of one user have.
    case own
    /// It is paired, in this role; `nil` for a role of a newer version.
    case paired(Role?)
    /// It is paired, and says that it has another key.
    case keyChanged
    /// It is paired, and says nothing of a key: it offers no encryption.
    case keyMissing

    /// - Parameters:
    ///   - service: what the browser found.
    ///   - peers: the services that the client trusts.
    ///   - own: the client's fingerprint.
    public init(to service: DiscoveredService, among peers: TrustedPeers, own: Fingerprint) {
        switch peers.match(ConnectionTarget(service), own: own) {
        case .pinned(let entry):
            guard let key = service.shortFingerprint else {
                self = .keyMissing
                return
            }
            self = key == entry.fingerprint.short ? .paired(entry.role) : .keyChanged
        case .renamed(let entry): self = .paired(entry.role)
        case .own: self = .own
        // Another service of a host that is known has to be paired itself.
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

    /// The role in which it is paired, if it is and this version knows the role.
    public var role: Role? { if case .paired(let role) = self { role } else { nil } }
}

extension ConnectionTarget {
    /// A service as the browser found it.
    init(_ service: DiscoveredService) {
        self.init(
            service: service.service, instance: service.name, hosts: service.addresses,
            port: UInt16(clamping: service.port), advertisedIdentity: service.shortFingerprint)
    }
}
