import Elemental
import ElementalSecurity

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
