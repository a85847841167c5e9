import Support

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A host name or address in a form that compares equal, however it is written.
package struct ComparableHost: Hashable {
    private enum Content: Hashable {
        case address([UInt8])
        case name(ComparableName)
    }
    private let content: Content

    /// Creates the form from a name or an address.
    package init(_ text: String) {
        var text = Substring(text)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        // The interface is not part of the address: with or without one it is the same host.
        if let percent = text.firstIndex(of: "%") { text = text[..<percent] }
        if let address = Self.address(String(text)) {
            content = .address(address)
        } else {
            while text.hasSuffix(".") { text = text.dropLast() }
            content = .name(ComparableName(text))
        }
    }

    /// Whether the host is loopback, where every program has the same address.
    package var isLoopback: Bool {
        switch content {
        case .address(let bytes): bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
        case .name(let name): name.text == "localhost" || name.text.hasSuffix(".localhost")
        }
    }

    /// The bytes of an address: 4 for IPv4, also for IPv4-mapped IPv6 and for the old forms that the system's resolver
    /// reads ("127.1"), or 16 for IPv6.
    private static func address(_ text: String) -> [UInt8]? {
        var ipv6 = in6_addr()
        if inet_pton(AF_INET6, text, &ipv6) == 1 {
            let bytes = withUnsafeBytes(of: &ipv6) { Array($0) }
            let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
            return bytes.starts(with: mappedPrefix) ? Array(bytes[12...]) : bytes
        }
        var ipv4 = in_addr()
        guard !text.contains(where: \.isWhitespace), inet_aton(text, &ipv4) != 0 else { return nil }
        return withUnsafeBytes(of: &ipv4) { Array($0) }
    }
}
