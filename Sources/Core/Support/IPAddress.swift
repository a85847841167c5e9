package import NIOCore

/// An IPv4 or IPv6 address without port and scope. An IPv4 address equals its IPv4-mapped form (`::ffff:a.b.c.d`).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline let high: UInt64
    @usableFromInline let low: UInt64

    /// Stands for the address of a peer without one.
    package static let unknown = IPAddress(high: 0, low: 0)

    @inlinable init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    // Inlinable, because it is needed to compare datagrams' addresses.
    @inlinable package init?(_ address: SocketAddress) {
        switch address {
        case .v4(let v4):
            self.init(high: 0, low: 0xffff_0000_0000 | UInt64(UInt32(bigEndian: v4.address.sin_addr.s_addr)))
        case .v6(let v6):
            let (high, low) = withUnsafeBytes(of: v6.address.sin6_addr) {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
        case .unixDomainSocket:
            return nil
        }
    }

    /// - Parameter literal: an address in its usual form. An IPv6 address has no brackets.
    package init?(literal: some StringProtocol) {
        guard literal.utf8.count <= 45, let address = try? SocketAddress(ipAddress: String(literal), port: 0) else {
            return nil
        }
        self.init(address)
    }

    fileprivate var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

    /// 127.0.0.0/8, and ::1.
    package var isLoopback: Bool { isIPv4 ? low >> 24 & 0xff == 127 : high == 0 && low == 1 }

    /// 0.0.0.0, or ::.
    package var isWildcard: Bool { self == Self.unknown || (isIPv4 && low & 0xffff_ffff == 0) }

    /// The unit for limits per client: the address itself, or the network of an IPv6 address that is not link-local,
    /// because one client may have all of its addresses.
    package var client: IPAddress {
        let isLinkLocal = high >> 54 == 0xfe80 >> 6
        return high == 0 || isLinkLocal ? self : IPAddress(high: high, low: 0)
    }

    /// The network of an IPv6 address, its first 64 bits; `nil` for an IPv4 address.
    package var network: UInt64? { high == 0 ? nil : high }

    package var description: String {
        if isIPv4 { return (0..<4).reversed().map { String(low >> (8 * $0) & 0xff) }.joined(separator: ".") }
        // Not shortened, because only the log shows it.
        return [high, low].flatMap { word in (0..<4).reversed().map { String(word >> (16 * $0) & 0xffff, radix: 16) } }
            .joined(separator: ":")
    }
}

extension IPAddress {
    /// The address by which other machines most likely reach this one: the first IPv4 address of an interface that is
    /// not loopback, or else an IPv6 address that is not link-local. `nil` if there is neither.
    package static var reachable: String? {
        let addresses = ((try? System.enumerateDevices()) ?? []).compactMap(\.address).filter {
            IPAddress($0)?.isLoopback == false
        }
        let v4 = addresses.first { $0.protocol == .inet }
        let v6 = addresses.first { $0.protocol == .inet6 && $0.ipAddress?.hasPrefix("fe80") == false }
        return (v4 ?? v6)?.ipAddress
    }
}

/// A network: all addresses with the same first bits.
package struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    private let address: IPAddress
    private let bitCount: Int
    package let description: String

    /// - Parameter text: an address, a slash and the length of the prefix in bits, such as `192.168.1.0/24` or
    ///   `fd00::/8`. Without the slash it is that address alone.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(literal: parts[0]) else { return nil }
        let most = address.isIPv4 ? 32 : 128
        var count = most
        if parts.count > 1 {
            guard 1...3 ~= parts[1].utf8.count, parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let number = Int(parts[1]), number <= most
            else { return nil }
            count = number
        }
        self.address = address
        bitCount = count + 128 - most
        description = text
    }

    package func contains(_ other: IPAddress) -> Bool {
        let high = bitCount >= 64 ? UInt64.max : ~(UInt64.max >> UInt64(bitCount))
        let low = bitCount <= 64 ? 0 : ~(UInt64.max >> UInt64(bitCount - 64))
        return (address.high ^ other.high) & high == 0 && (address.low ^ other.low) & low == 0
    }
}
