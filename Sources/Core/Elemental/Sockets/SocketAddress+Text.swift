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

/// The host of an address, without port or scope: equal for a host regardless of how the socket presents it (an IPv4
/// address is `::ffff:a.b.c.d` on a dual-stack socket). Compared for every datagram, so it is two words.
struct PeerHost: Hashable, Sendable {
    private var words: (UInt64, UInt64)

    /// The host of a peer that has no address.
    static let unknown = PeerHost()

    private init() { words = (0, 0) }

    init(_ address: SocketAddress) {
        var words: (UInt64, UInt64) = (0, 0)
        switch address {
        case .v4(let v4):
            words.1 =
                UInt64(UInt32(bigEndian: v4.address.sin_addr.s_addr)).bigEndian | UInt64(0xffff_0000_0000).bigEndian
        case .v6(let v6):
            withUnsafeBytes(of: v6.address.sin6_addr) { bytes in
                withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
            }
        case .unixDomainSocket:
            break
        }
        self.words = words
    }

    /// The network of an IPv6 address, its first 64 bits; `nil` for an IPv4 address.
    var network: UInt64? { words.0 == 0 ? nil : words.0 }

    var isLoopback: Bool {
        let bytes = withUnsafeBytes(of: words) { Array($0) }
        // 127.0.0.0/8, and ::1.
        return bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] ? bytes[12] == 127 : bytes == Self.loopback
    }

    private static let loopback = [UInt8](repeating: 0, count: 15) + [1]

    static func == (a: PeerHost, b: PeerHost) -> Bool { a.words == b.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}
