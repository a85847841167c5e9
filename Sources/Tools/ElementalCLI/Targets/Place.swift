import Elemental

/// Where a target was found: any number of connections can be made to it without looking for it again.
enum Place: Sendable {
    case found(DiscoveredService)
    case address(host: String, port: Int)

    /// Looks for the service, or for the address of its host.
    static func find(_ target: Target, _ output: OutputOptions) async throws -> Place {
        switch target {
        case .address(let host, let port):
            let host = try await LocalHost.address(of: host, timeout: output.limit, logger: output.logger)
            return .address(host: host, port: port)
        case .service(let service, let name):
            let finder = ServiceFinder(service: service, name: name, timeout: output.limit, logger: output.logger)
            return .found(try await finder.find())
        }
    }

    /// Makes a connection.
    func connect(
        as name: String, elements: ElementCatalogue?, options: ConnectOptions,
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws(ElementalError) -> ElementalDevice {
        switch self {
        case .address(let host, let port):
            try await ElementalDevice.connect(
                host: host, port: port, as: name, elements: elements, options: options, configure: configure)
        case .found(let service):
            try await service.connect(as: name, elements: elements, options: options, configure: configure)
        }
    }

    /// Makes a connection for as long as `body` runs.
    func withConnection<Result>(
        as name: String, elements: ElementCatalogue?, options: ConnectOptions,
        configure: @escaping @Sendable (ElementalDevice) -> Void, isolation: isolated (any Actor)? = #isolation,
        _ body: (ElementalDevice) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .address(let host, let port):
            try await ElementalDevice.withConnection(
                host: host, port: port, as: name, elements: elements, options: options, configure: configure, body)
        case .found(let service):
            try await service.withConnection(
                as: name, elements: elements, options: options, configure: configure, body)
        }
    }
}
