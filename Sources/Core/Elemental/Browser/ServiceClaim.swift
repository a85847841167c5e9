import Zeroconf

/// What an entry of the common listing claims to be. Anyone can list anything there, so a claim counts only if the
/// claimed instance itself resolves to the same host and port.
enum ServiceClaim: Hashable {
    /// It claims nothing: a service whose own type happens to be the common one.
    case nothing
    /// It claims something impossible.
    case invalid
    /// The instance of the service's own type.
    case instance(ServiceInstance)

    init(_ entry: ResolvedService) {
        guard entry.txt.contains(ServiceTXT.service) || entry.txt.contains(ServiceTXT.instance) else {
            self = .nothing
            return
        }
        guard let service = entry.txt[ServiceTXT.service], let name = entry.txt[ServiceTXT.instance],
            let type = try? ServiceType.tcp(service),
            // Such an instance is listed itself, under its own name.
            type != entry.instance.type,
            (try? ServiceName.check(name)) != nil
        else {
            self = .invalid
            return
        }
        self = .instance(ServiceInstance(name: name, type: type, domain: entry.instance.domain))
    }
}
