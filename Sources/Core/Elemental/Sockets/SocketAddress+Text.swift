import NIOCore

extension SocketAddress {
    /// Address and port as people write them: `192.168.1.7:5000`, `[fe80::1%3]:5000`.
    var text: String {
        guard let ip = ipAddress, let port else { return description }
        if case .v6(let v6) = self {
            if let v4 = unmappedIPv4 { return "\(v4):\(port)" }
            let scope = v6.address.sin6_scope_id
            return scope == 0 || ip.contains("%") ? "[\(ip)]:\(port)" : "[\(ip)%\(scope)]:\(port)"
        }
        return "\(ip):\(port)"
    }

    /// The IPv4 address within `::ffff:a.b.c.d`, as a dual-stack socket presents IPv4 peers.
    private var unmappedIPv4: String? {
        guard let ip = ipAddress?.lowercased(), ip.hasPrefix("::ffff:"), ip.contains(".") else { return nil }
        return String(ip.dropFirst("::ffff:".count))
    }

    /// The host's address without port or scope, equal for a host regardless of how the socket presents it.
    var hostText: String { unmappedIPv4 ?? ipAddress ?? description }

    /// The same host at another port.
    func withPort(_ port: Int) -> SocketAddress {
        var copy = self
        copy.port = port
        return copy
    }
}
