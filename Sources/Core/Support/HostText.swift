package import NIOCore

extension String {
    /// The host in the form that URLs need: an IPv6 address in brackets.
    package var hostInURL: String { contains(":") ? "[\(self)]" : self }

    /// The host with a port: `localhost:5000`, `[fe80::1%3]:5000`.
    package func withPort(_ port: Int) -> String { "\(hostInURL):\(port)" }
}

extension SocketAddress {
    /// The address with its port: `192.168.1.7:5000`, `[fe80::1%3]:5000`.
    package var text: String {
        guard let ip = unmappedIPv4 ?? ipAddress, let port else { return description }
        guard case .v6(let v6) = self, v6.address.sin6_scope_id != 0, ip.contains(":"), !ip.contains("%") else {
            return ip.withPort(port)
        }
        return "\(ip)%\(v6.address.sin6_scope_id)".withPort(port)
    }

    /// The host's address without port or scope. An IPv4-mapped address has the same text as its IPv4 address.
    package var hostText: String { unmappedIPv4 ?? ipAddress ?? description }

    /// The IPv4 address of the mapped form `::ffff:a.b.c.d`, in which a dual-stack socket reports IPv4 peers.
    private var unmappedIPv4: String? {
        guard let ip = ipAddress?.lowercased(), ip.hasPrefix("::ffff:"), ip.contains(".") else { return nil }
        return String(ip.dropFirst("::ffff:".count))
    }
}
