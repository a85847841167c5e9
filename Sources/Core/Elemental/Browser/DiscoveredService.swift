public import ElementalWire
import NIOCore
import Zeroconf

/// A service that a browser found, with all that is needed to show it and to connect to it.
public struct DiscoveredService: Sendable, Hashable {
    /// The service's name, such as `robot`.
    public let service: String
    /// The instance's name that people see, such as "Rover".
    public let name: String
    /// The host's name, such as `rover.local.`.
    public let host: String
    /// The TCP and UDP port.
    public let port: Int
    /// The addresses, IPv4 first, link-local IPv6 with its scope (`fe80::1%3`).
    public let addresses: [String]
    /// What the service tells before a connection, without the framework's own entries.
    public let txt: [String: String]
    /// Whether the service says hello: one of this framework's does, an older ElementalController does not.
    public let saysHello: Bool

    /// - Parameter claim: in the common listing the instance that the service claims to be, once that was found to be so.
    init(_ resolved: ResolvedService, as claim: ServiceInstance? = nil) {
        let instance = claim ?? resolved.instance
        service = instance.type.name
        name = instance.name
        host = resolved.host
        port = resolved.port
        addresses = resolved.addresses.map(\.presentation)
        saysHello = resolved.txt[ServiceTXT.version] != nil
        var txt: [String: String] = [:]
        for key in resolved.txt.keys where !ServiceTXT.ownKeys.contains(key.lowercased()) {
            txt[key] = resolved.txt[key] ?? ""
        }
        self.txt = txt
    }

    /// Connects to the service.
    ///
    /// - Parameters:
    ///   - name: what this client calls itself, by which the service shows it; not empty.
    ///   - elements: the elements that both share; `nil` to take those that the service tells.
    ///   - options: time limits, limits of memory, reconnection, logging.
    ///   - configure: called on the event loop before the first value is handed on: the place to add handlers that must
    ///     not miss any.
    /// - Returns: the device, ready to send.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/connectionFailed``,
    ///   ``ElementalError/Code/timedOut``, ``ElementalError/Code/refused``, ``ElementalError/Code/catalogueMismatch``,
    ///   ``ElementalError/Code/invalidCatalogue``, ``ElementalError/Code/cancelled``.
    public func connect(
        as name: String, elements: ElementCatalogue? = nil, options: ConnectOptions = ConnectOptions(),
        configure: @escaping @Sendable (ElementalDevice) -> Void = { _ in }
    ) async throws(ElementalError) -> ElementalDevice {
        var options = options
        options.expectsHello = saysHello
        return try await Connector(
            endpoint: endpoint, peerName: self.name, service: service, ownName: name, elements: elements,
            options: options, configure: configure
        ).connect()
    }

    var endpoint: Connector.Endpoint {
        let known = addresses.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        if !known.isEmpty { return .addresses(known) }
        // Without addresses the system's resolver is the last resort; it knows ".local" where nss-mdns is installed.
        return .host(host.hasSuffix(".") ? String(host.dropLast()) : host, port: port)
    }
}
