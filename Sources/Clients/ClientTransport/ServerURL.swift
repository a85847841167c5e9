internal import Support

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The parts of a URL that names a server.
package struct ServerURL: Sendable {
    /// The host is never empty. The port is any number that the text has, also one that is no port.
    package let endpoint: ServerEndpoint
    /// The user's name, decoded. It is empty where there is an `@` and nothing before it.
    package let user: String?
    package let hasPassword: Bool
    /// Percent-encoded.
    package let path: String
    /// Percent-encoded, without the question mark; empty if there is none.
    package let query: String
    package let hasFragment: Bool

    /// `nil` if the text has no host or another scheme, or cannot be a URL.
    ///
    /// - Parameter schemes: by name in lower case, whether they stand for TLS, and the port of a URL that has none.
    package init?(_ text: String, schemes: [String: (isSecure: Bool, port: Int)]) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme.flatMap({ schemes[$0.lowercased()] }),
            let host = Self.host(parts), !host.isEmpty
        else { return nil }
        endpoint = ServerEndpoint(
            host: host, port: parts.port ?? scheme.port, isSecure: scheme.isSecure, defaultPort: scheme.port)
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
    fileprivate let defaultPort: Int

    package var isValid: Bool { (1...65535).contains(port) }

    /// Host and port as a URL has them, which leaves out the scheme's port.
    package var authority: String { port == defaultPort ? host.hostInURL : host.withPort(port) }
}

extension String {
    /// The text with everything but RFC 3986's unreserved characters (section 2.3) percent-encoded.
    package var percentEncoded: String {
        utf8.map { byte -> String in
            let character = Character(Unicode.Scalar(byte))
            let isUnreserved =
                byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            let digits = String(byte, radix: 16, uppercase: true)
            return isUnreserved ? String(character) : byte < 0x10 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }
}
