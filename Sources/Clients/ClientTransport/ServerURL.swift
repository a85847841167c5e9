internal import Support

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The parts of a URL that names a server.
package struct ServerURL: Sendable {
    /// In lower case.
    package let scheme: String
    /// The host in ASCII, without the brackets of an IPv6 address. Never empty.
    package let host: String
    /// Any number that the text has, also one that is no port.
    package let port: Int?
    /// The user's name, decoded. It is empty where there is an `@` and nothing before it.
    package let user: String?
    package let hasPassword: Bool
    /// Percent-encoded.
    package let path: String
    /// Percent-encoded, without the question mark; empty if there is none.
    package let query: String
    package let hasFragment: Bool

    /// `nil` if the text has no scheme or no host, or cannot be a URL.
    package init?(_ text: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = Self.host(parts), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = parts.port
        user = parts.percentEncodedUser == nil ? nil : parts.user
        hasPassword = parts.percentEncodedPassword != nil
        path = parts.percentEncodedPath
        query = parts.percentEncodedQuery ?? ""
        hasFragment = parts.percentEncodedFragment != nil
    }

    /// The host without the brackets of an IPv6 address; `nil` if it cannot be a host.
    private static func host(_ parts: URLComponents) -> String? {
        guard let host = parts.host else { return nil }
        return host.hasPrefix("[") && host.hasSuffix("]")
            ? String(host.dropFirst().dropLast()) : DomainName.ascii(host)
    }

    /// A URL for messages and logs, without what may be a user name and password.
    package static func withoutCredentials(_ text: String) -> String {
        let start = text.firstRange(of: "//")?.upperBound ?? text.startIndex
        let authority = text[start...].prefix { !"/?#".contains($0) }
        guard let sign = authority.lastIndex(of: "@") else { return text }
        return text[..<start] + "…" + text[sign...]
    }
}

/// Where a server listens, and whether it speaks TLS.
package struct ServerEndpoint: Sendable, Hashable {
    /// A host name in ASCII, or an address, without the brackets of an IPv6 address.
    package let host: String
    package let port: Int
    package let isSecure: Bool

    package init(host: String, port: Int, isSecure: Bool) {
        self.host = host
        self.port = port
        self.isSecure = isSecure
    }

    /// Host and port as a URL has them.
    ///
    /// - Parameter defaultPort: the port that is left out.
    package func authority(defaultPort: Int) -> String {
        port == defaultPort ? host.hostInURL : host.withPort(port)
    }
}

extension String {
    /// The text with everything but RFC 3986's unreserved characters (section 2.3) percent-encoded.
    package var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
