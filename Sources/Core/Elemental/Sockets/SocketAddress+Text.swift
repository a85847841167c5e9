import NIOCore

extension SocketAddress {
    /// Address and port as people write them: `192.168.1.7:5000`, `[fe80::1%3]:5000`.
    var text: String {
        guard let ip = unmappedIPv4 ?? ipAddress, let port else { return description }
        guard case .v6(let v6) = self, unmappedIPv4 == nil else { return "\(ip):\(port)" }
        let scope = v6.address.sin6_scope_id
        return scope == 0 || ip.contains("%") ? "[\(ip)]:\(port)" : "[\(ip)%\(scope)]:\(port)"
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

/// The host of an address, without port or scope: equal for a host regardless of how the socket presents it (an IPv4
/// address is `::ffff:a.b.c.d` on a dual-stack socket). Compared for every datagram, so it is two words.
struct PeerHost: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// The host of a peer that has no address.
    static let unknown = PeerHost(0, 0)

    private init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }

    init(_ address: SocketAddress) {
        switch address {
        case .v4(let v4):
            self.init(0, 0xffff_0000_0000 | UInt64(UInt32(bigEndian: v4.address.sin_addr.s_addr)))
        case .v6(let v6):
            let words = withUnsafeBytes(of: v6.address.sin6_addr) { $0.loadUnaligned(as: (UInt64, UInt64).self) }
            self.init(UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
        case .unixDomainSocket:
            self = .unknown
        }
    }

    /// The network of an IPv6 address, its first 64 bits; `nil` for an IPv4 address.
    var network: UInt64? { high == 0 ? nil : high }

    /// 127.0.0.0/8, and ::1.
    var isLoopback: Bool { high == 0 && (low >> 24 == 0xffff_7f || low == 1) }
}
