import Elemental
import ElementalSecurity
import Support

/// The services that this user trusts, once the user has an identity.
struct UserTrust: Sendable {
    private let options: StateOptions
    private var services: TrustedServices?

    init(_ options: StateOptions) { self.options = options }

    /// Reads the services if they have changed.
    mutating func update() async throws {
        if services == nil, let state = try await options.openForConnecting() {
            services = TrustedServices(.required(identity: state.identity, store: state.trust))
        }
        try await services?.update()
    }

    /// This user's pairing with a service, as of the last ``update()``.
    func standing(to service: DiscoveredService) -> ServiceStanding { services?.standing(to: service) ?? .none }
}

extension DiscoveredService {
    /// The pairing that the service requires, as it announces; `nil` if it is open.
    var requirement: String? {
        switch security {
        case .open: nil
        case .pairedToControl: "needs pairing to control"
        case .paired: "needs pairing"
        case nil: "unknown security policy"
        }
    }

    /// A remark on the service's pairing with this user; `nil` if there is nothing to remark.
    func remark(_ standing: ServiceStanding) -> String? {
        let remark: String? =
            switch standing {
            case .none: requirement
            case .own: "this user's own"
            case .paired(let role): "paired, \(role?.rawValue ?? "unknown role")"
            case .keyChanged: "KEY CHANGED, as announced"
            case .keyMissing: "paired, but announced as open"
            }
        return remark.map { isPairing ? $0 + ", pairing now" : $0 }
    }

    /// The JSON members of the security that the service announces.
    var securityMembers: JSONText.Members {
        [("security", .optional(security?.rawValue)), ("pairing", .bool(isPairing))]
    }
}
