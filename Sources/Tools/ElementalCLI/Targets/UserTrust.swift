import Elemental
import ElementalSecurity
import Support

/// The services that this user trusts, once the user has an identity.
struct UserTrust: Sendable {
    private let options: StateOptions
    private var services: TrustedServices?

    init(_ options: StateOptions) { self.options = options }

    /// Reads them if they have changed.
    mutating func update() async throws {
        if services == nil, let state = try await options.openForConnecting() {
            services = TrustedServices(.required(identity: state.identity, store: state.trust))
        }
        try await services?.update()
    }

    /// How this user stands to a service, as of the last ``update()``.
    func standing(to service: DiscoveredService) -> ServiceStanding { services?.standing(to: service) ?? .none }
}

extension DiscoveredService {
    /// What a client needs, as far as the service says; `nil` if it needs nothing.
    var requirement: String? {
        switch security {
        case .open: nil
        case .pairedToControl: "needs pairing to control"
        case .paired: "needs pairing"
        case nil: "unknown security policy"
        }
    }

    /// What there is to know about pairing for this user; `nil` if nothing.
    func remark(_ standing: ServiceStanding) -> String? {
        let remark: String? =
            switch standing {
            case .none: requirement
            case .own: "this user's own"
            case .paired(let role): "paired, \(role?.rawValue ?? "unknown role")"
            case .keyChanged: "KEY CHANGED, as it says"
            case .keyMissing: "paired, but says that it is open"
            }
        return remark.map { isPairing ? $0 + ", pairing now" : $0 }
    }

    /// What it says of its security, for programs.
    var securityMembers: JSONText.Members {
        [("security", .optional(security?.rawValue)), ("pairing", .bool(isPairing))]
    }
}
