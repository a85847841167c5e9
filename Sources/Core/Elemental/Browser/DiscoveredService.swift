public import ElementalWire
import NIOCore
import Support
import Zeroconf

/// A service that a browser found, with everything needed to display it and to connect to it.
public struct DiscoveredService: Sendable, Hashable {
    /// The service's name, such as `robot`.
    public let service: String
    /// The instance name, which is shown to users, such as "Rover".
    public let name: String
    /// The host's name, such as `rover.local.`.
    public let host: String
    /// The TCP and UDP port.
    public let port: Int
    /// The addresses, IPv4 first, link-local IPv6 with its scope (`fe80::1%3`).
    public let addresses: [String]
    /// The service's TXT record, without this framework's own entries.
    public let txt: [String: String]
    /// Whether the service sends a hello. Services of this framework do; an older ElementalController does not.
    public let saysHello: Bool
    /// The policy that the service announces: which clients it admits; `nil` for a policy unknown to this version. Like
    /// everything here it is not authenticated: anyone on the network can publish it.
    public let security: SecurityPolicy?
    /// The beginning of the fingerprint that the service claims, 16 characters of base32; `nil` if it claims none.
    public let shortFingerprint: String?
    /// Whether the service announces that a client can pair now.
    public let isPairing: Bool

    init(_ resolved: ResolvedService, as claim: ServiceInstance? = nil) {
        let instance = claim ?? resolved.instance
        service = instance.type.name
        name = instance.name
        host = resolved.host
        port = resolved.port
        addresses = resolved.addresses.map(\.presentation)
        saysHello = resolved.txt[ServiceTXT.version] != nil
        let entries = SecurityEntries(resolved.txt)
        security = entries.policy
        shortFingerprint = entries.shortFingerprint
        isPairing = entries.isPairing
        var txt: [String: String] = [:]
        let ownKeys = entries.frameworkKeys
        for key in resolved.txt.keys where !ownKeys.contains(where: key.isSameName) {
            txt[key] = resolved.txt[key] ?? ""
        }
        self.txt = txt
    }
}

extension DiscoveredService {
    package var hostName: String { host.hasSuffix(".") ? String(host.dropLast()) : host }

    /// The addresses or, without any, the host name.
    var endpoint: ServiceEndpoint {
        let known = addresses.compactMap { try? SocketAddress(ipAddress: $0, port: port) }
        // Without addresses the system's resolver is the last resort; it knows ".local" where nss-mdns is installed.
        return known.isEmpty ? .host(hostName, port: port) : .addresses(known)
    }
}

enum ServiceEndpoint: Sendable {
    case host(String, port: Int)
    case addresses([SocketAddress])

    var text: String {
        switch self {
        case .host(let host, let port): host.withPort(port)
        case .addresses(let addresses): addresses.map(\.text).joined(separator: ", ")
        }
    }

    /// Whether this endpoint has every address and the port of `other`. Between a host name and addresses, only the
    /// ports are compared.
    func covers(_ other: ServiceEndpoint) -> Bool {
        switch (self, other) {
        case (.addresses(let own), .addresses(let others)): others.allSatisfy(own.contains)
        case (.addresses(let addresses), .host(_, let port)), (.host(_, let port), .addresses(let addresses)):
            addresses.allSatisfy { $0.port == port }
        case (.host(let own, let ownPort), .host(let other, let port)): own == other && ownPort == port
        }
    }
}
