public import Elemental
internal import Support

/// A service among those that are followed: by its name and that of its instance, or by host and port.
///
/// Two instances of one name that are different services, a robot "Rover" and a lamp "Rover", have different keys; a
/// service that is started again has the one it had.
public struct ServiceKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The service's name, such as `robot`; `nil` for a host and port.
    public let service: String?
    /// The instance's name, such as "Rover", or `HOST:PORT`. An instance's name comes from the network.
    public let name: String

    public init(service: String?, name: String) {
        self.service = service
        self.name = name
    }

    public init(_ service: DiscoveredService) { self.init(service: service.service, name: service.name) }

    /// The key of a host name or address and a port.
    public init(host: String, port: Int) {
        self.init(service: nil, name: ServicePlace.address(host: host, port: port).target)
    }

    /// `SERVICE/NAME` or `HOST:PORT`.
    public var description: String { service.map { "\($0)/\(name)" } ?? name }

    public static func == (a: ServiceKey, b: ServiceKey) -> Bool { a.compared == b.compared }

    public func hash(into hasher: inout Hasher) { hasher.combine(compared) }

    private var compared: [ComparableName?] { [service.map { ComparableName($0) }, ComparableName(name)] }

    /// By the services' names, then by those of the instances; those by host and port come last.
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

/// Which services are followed.
public enum ServiceSubject: Sendable, Hashable {
    /// All element services that Zeroconf finds. Older ones are found by their names only.
    case all
    /// The services of that name, older ones too; with an instance's name that one alone.
    case service(String, name: String? = nil)
    /// What answers there. A name in .local has to be one that the system resolves.
    case address(host: String, port: Int)

    var target: String? {
        switch self {
        case .all: nil
        case .service(let service, let name): name.map { "\(service)/\($0)" } ?? service
        case .address(let host, let port): host.withPort(port)
        }
    }
}
