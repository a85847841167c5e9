import Support

extension ElementalBrowser.Event: CustomStringConvertible {
    /// A line for a log: `found: robot/Rover at pi.local:41847`. Names from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .found(let service): "found: \(Self.place(of: service))"
        case .updated(let service): "updated: \(Self.place(of: service))"
        case .gone(let service, let name): "gone: \(service)/\(name)"
        case .unresolved(let service, let name, let error): "not resolved: \(service)/\(name): \(error)"
        case .failed(let error, let delay): "browsing failed: \(error); next attempt in \(delay)"
        }
    }

    private static func place(of service: DiscoveredService) -> String {
        "\(service.service)/\(service.name) at \(service.host):\(service.port)"
    }
}
