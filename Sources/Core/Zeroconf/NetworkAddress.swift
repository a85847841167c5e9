import Support

/// An address of a host, with the interface on which it was learnt.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// The family of an address.
    public enum Family: Hashable, Sendable, CaseIterable {
        /// Four bytes, such as 192.168.1.20.
        case ipv4
        /// Sixteen bytes, such as fe80::1%eth0.
        case ipv6
    }

    /// The family.
    public let family: Family
    /// The address as text. A link-local IPv6 address has its scope (`fe80::1%eth0`), in the form that getaddrinfo
    /// accepts.
    public let presentation: String
    /// The index of the interface on which it was learnt, as if_nametoindex returns it; 0 if it is not known.
    public let interfaceIndex: UInt32
    let rank: Int

    /// Creates an address from the bytes of an A record (4) or of an AAAA record (16), in network order.
    ///
    /// - Returns: `nil` for any other number of bytes.
    public init?(bytes: [UInt8], interfaceIndex: UInt32) {
        switch bytes.count {
        case 4:
            family = .ipv4
            presentation = Self.text(of: bytes, family: AF_INET)
            rank = bytes[0] == 127 ? 3 : 0
        case 16:
            family = .ipv6
            let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
            let isLoopback = bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
            let scope = isLinkLocal && interfaceIndex != 0 ? "%" + Self.name(ofInterface: interfaceIndex) : ""
            presentation = Self.text(of: bytes, family: AF_INET6) + scope
            rank = isLoopback ? 4 : (isLinkLocal ? 2 : 1)
        default:
            return nil
        }
        self.interfaceIndex = interfaceIndex
    }

    /// The address as text.
    public var description: String { presentation }

    private static func text(of bytes: [UInt8], family: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            guard let base = buffer.baseAddress,
                inet_ntop(family, bytes, base, socklen_t(buffer.count)) != nil
            else { return "" }
            return String(cString: base)
        }
    }

    /// The name that users know, or the number if the interface no longer exists.
    private static func name(ofInterface index: UInt32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            guard let base = buffer.baseAddress, if_indextoname(index, base) != nil else { return String(index) }
            return String(cString: base)
        }
    }
}

extension NetworkAddress: Comparable {
    /// Orders addresses by the sequence in which to try them: IPv4, IPv6, link-local IPv6, loopback last.
    public static func < (one: NetworkAddress, other: NetworkAddress) -> Bool {
        (one.rank, one.interfaceIndex, one.presentation) < (other.rank, other.interfaceIndex, other.presentation)
    }
}
