public import Elemental
internal import Support

/// Identifies a followed service: by its name and that of its instance, or by host and port.
///
/// Two services with the same instance name, a robot "Rover" and a lamp "Rover", have different keys. A service that
/// restarts has the same key again.
public struct ServiceKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The service's name, such as `robot`; `nil` for a host and port.
    public let service: String?
    /// The instance's name, such as "Rover", or `HOST:PORT`. An instance's name comes from the network.
    public let name: String

    /// Creates a key from a service's name and that of its instance.
    public init(service: String?, name: String) {
        self.service = service
        self.name = name
    }

    /// Creates the key of a discovered service.
    public init(_ service: DiscoveredService) { self.init(service: service.service, name: service.name) }

    /// The key of a host name or address and a port.
    public init(host: String, port: Int) {
        self.init(service: nil, name: ServicePlace.address(host: host, port: port).target)
    }

    /// `SERVICE/NAME` or `HOST:PORT`.
    public var description: String { service.map { "\($0)/\(name)" } ?? name }

    /// Compares the names as DNS does: ASCII letters without case.
    public static func == (a: ServiceKey, b: ServiceKey) -> Bool { a.compared == b.compared }

    /// Hashes the names in the form in which they are compared.
    public func hash(into hasher: inout Hasher) { hasher.combine(compared) }

    private var compared: [ComparableName?] { [service.map { ComparableName($0) }, ComparableName(name)] }

    /// Orders by service name, then by instance name. Hosts and ports come last.
    public static func < (a: ServiceKey, b: ServiceKey) -> Bool {
        switch (a.service, b.service) {
        case (nil, nil): ComparableName(a.name) < ComparableName(b.name)
        case (nil, _?): false
        case (_?, nil): true
        case (let first?, let second?):
            (ComparableName(first), ComparableName(a.name)) < (ComparableName(second), ComparableName(b.name))
        }
    }
}

/// The services to follow.
public enum ServiceSubject: Sendable, Hashable {
    /// All element services that Zeroconf finds. Older ones are found only by their names.
    case all
    /// The services of this name, including older ones, or only the instance of the given name.
    case service(String, name: String? = nil)
    /// The service at this host and port. The system has to resolve a name in .local.
    case address(host: String, port: Int)

    var target: String? {
        switch self {
        case .all: nil
        case .service(let service, let name): name.map { "\(service)/\($0)" } ?? service
        case .address(let host, let port): host.withPort(port)
        }
    }
}
