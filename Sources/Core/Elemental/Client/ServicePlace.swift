package import ElementalSecurity
package import ElementalWire

/// Where a service was found. Any number of connections can be made to it without another search.
package enum ServicePlace: Sendable, Hashable {
    /// A service as Zeroconf describes it.
    case found(DiscoveredService)
    /// A host name or address and a port, without Zeroconf.
    case address(host: String, port: Int)

    /// What Zeroconf says about the service, if it was asked.
    package var discovered: DiscoveredService? {
        guard case .found(let service) = self else { return nil }
        return service
    }

    /// The place as the user types it: `SERVICE/INSTANCE NAME` or `HOST:PORT`. A service's name comes from the network.
    package var target: String {
        switch self {
        case .found(let service): "\(service.service)/\(service.name)"
        case .address(let host, let port): ServiceEndpoint.host(host, port: port).text
        }
    }

    package func connect(
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

    /// Pairs with the service.
    ///
    /// - Parameter enter: returns what the service shows; `nil` to give up.
    package func pair(
        as name: String, role: ElementalWire.Role, options: ConnectOptions,
        isolation: isolated (any Actor)? = #isolation, _ enter: (PairingRequest) async -> PairingSecret?
    ) async throws(ElementalError) -> TrustedService {
        switch self {
        case .address(let host, let port):
            try await ElementalDevice.pair(
                host: host, port: port, as: name, role: role, options: options, isolation: isolation, enter)
        case .found(let service):
            try await service.pair(as: name, role: role, options: options, isolation: isolation, enter)
        }
    }

    /// Connects, runs `body` and closes the connection.
    package func withConnection<Result>(
        as name: String, elements: ElementCatalogue?, options: ConnectOptions,
        configure: @escaping @Sendable (ElementalDevice) -> Void, isolation: isolated (any Actor)? = #isolation,
        _ body: (ElementalDevice) async throws -> Result
    ) async throws -> Result {
        let device = try await connect(as: name, elements: elements, options: options, configure: configure)
        return try await device.closing(after: body, isolation: isolation)
    }
}

extension ServicePlace {
    /// Whether `other` is at another host, address or port.
    package func differs(from other: ServicePlace) -> Bool {
        switch (self, other) {
        case (.found(let own), .found(let other)):
            own.port != other.port || own.host != other.host || own.addresses != other.addresses
        default: self != other
        }
    }
}
