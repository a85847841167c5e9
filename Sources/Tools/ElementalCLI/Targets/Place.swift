import Elemental
import ElementalSecurity
import ElementalWire
import Logging

/// Where a target was found. Any number of connections can be made to it without another search.
enum Place: Sendable {
    case found(DiscoveredService)
    case address(host: String, port: Int)

    /// What Zeroconf says of the service; `nil` where it was not asked.
    var discovered: DiscoveredService? {
        guard case .found(let service) = self else { return nil }
        return service
    }

    /// Finds the service, or the address of the host.
    ///
    /// - Throws: ``CommandFailure`` if it is not found within the timeout.
    static func find(_ target: Target, timeout: Duration, logger: Logger) async throws -> Place {
        switch target {
        case .address(let address):
            let host = try await LocalHost.address(of: address.host, timeout: timeout, logger: logger)
            return .address(host: host, port: address.port)
        case .service(let service, let name):
            let finder = ServiceFinder(service: service, name: name, timeout: timeout, logger: logger)
            return .found(try await finder.find())
        }
    }

    /// Finds the service, or the address of the host, for a client.
    ///
    /// Who asks for any service of a kind and has paired one of that kind gets no other: it would be spoken to without
    /// encryption, whoever published it.
    ///
    /// - Throws: ``CommandFailure`` if it is not found within the timeout, and with the code `notPaired` for another one.
    static func find(_ target: Target, for access: ClientAccess, _ output: OutputOptions) async throws -> Place {
        let place = try await find(target, timeout: output.limit, logger: output.logger)
        guard case .service(let kind, name: nil) = target, let service = place.discovered, let paired = access.paired
        else { return place }
        let peers = try await Blocking.run { try paired.trust.read() }
        let known = peers.services.filter { $0.service == kind }.map(\.instance)
        guard !known.isEmpty, ServiceStanding(to: service, among: peers, own: paired.identity.fingerprint) == .none
        else { return place }
        let name = place.target.shellArgument
        throw CommandFailure(
            "notPaired",
            "the only service '\(kind)' there is '\(service.name)', which is not paired, while "
                + "\(quotedList(known.sorted(), "and")) \(known.count == 1 ? "is" : "are") and may be switched off; to use "
                + "'\(service.name)' without encryption, name it: \(name); or pair it: elemental pair "
                + "\(name)\(access.pairOptions)")
    }

    /// Connects.
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

    /// Pairs with the service.
    ///
    /// - Parameter enter: returns what the service shows; `nil` to give up.
    func pair(
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

extension DiscoveredService {
    /// The host's name without the dot at its end, as users type it.
    var hostName: String { host.hasSuffix(".") ? String(host.dropLast()) : host }
}
