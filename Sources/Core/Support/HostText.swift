package import NIOCore

extension String {
    /// A host as URLs have it: an IPv6 address in brackets.
    package var hostInURL: String { contains(":") ? "[\(self)]" : self }

    /// A host with a port, as people write it: `localhost:5000`, `[fe80::1%3]:5000`.
    package func withPort(_ port: Int) -> String { "\(hostInURL):\(port)" }
}

extension SocketAddress {
    /// Address and port as people write them: `192.168.1.7:5000`, `[fe80::1%3]:5000`.
    package var text: String {
        guard let ip = unmappedIPv4 ?? ipAddress, let port else { return description }
        guard case .v6(let v6) = self, v6.address.sin6_scope_id != 0, ip.contains(":"), !ip.contains("%") else {
            return ip.withPort(port)
        }
        return "\(ip)%\(v6.address.sin6_scope_id)".withPort(port)
    }

    /// The host's address without port or scope, equal for a host regardless of how the socket presents it.
    package var hostText: String { unmappedIPv4 ?? ipAddress ?? description }

    /// The IPv4 address within `::ffff:a.b.c.d`, as a dual-stack socket presents IPv4 peers.
    private var unmappedIPv4: String? {
        guard let ip = ipAddress?.lowercased(), ip.hasPrefix("::ffff:"), ip.contains(".") else { return nil }
        return String(ip.dropFirst("::ffff:".count))
    }
}
