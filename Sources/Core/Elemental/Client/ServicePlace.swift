/// Where a service was found. Any number of connections can be made to it without another search.
public enum ServicePlace: Sendable, Hashable {
    /// A service as Zeroconf describes it.
    case found(DiscoveredService)
    /// A host name or address and a port, without Zeroconf.
    case address(host: String, port: Int)

    /// The service as Zeroconf describes it; `nil` for an address.
    public var discovered: DiscoveredService? {
        guard case .found(let service) = self else { return nil }
        return service
    }

    /// The place as the user types it: `SERVICE/INSTANCE NAME` or `HOST:PORT`. A service's name comes from the network
    /// and is not escaped.
    public var target: String {
        switch self {
        case .found(let service): "\(service.service)/\(service.name)"
        case .address: endpoint.text
        }
    }

    /// Where to connect to.
    var endpoint: ServiceEndpoint {
        switch self {
        case .found(let service): service.endpoint
        case .address(let host, let port): .host(host, port: port)
        }
    }
}
