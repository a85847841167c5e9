import NIOCore

/// The host of an address, without port or scope: equal for a host regardless of how the socket presents it (an IPv4
/// address is `::ffff:a.b.c.d` on a dual-stack socket). Compared for every datagram, so it is two words.
struct PeerHost: Hashable {
    private var words: (UInt64, UInt64)

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

    static func == (a: PeerHost, b: PeerHost) -> Bool { a.words == b.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}
