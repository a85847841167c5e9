internal import Support

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The parts of a URL that names a server.
package struct ServerURL: Sendable {
    /// The host is never empty. The port may be out of range: see ``ServerEndpoint/isValid``.
    package let endpoint: ServerEndpoint
    /// The user name, decoded. It is empty if nothing stands before the `@`.
    package let user: String?
    package let hasPassword: Bool
    /// Percent-encoded.
    package let path: String
    /// Percent-encoded, without the question mark; empty if there is none.
    package let query: String
    package let hasFragment: Bool

    /// Parses a URL. The result is `nil` if the text is not a URL, has no host, or has a scheme that is not in
    /// `schemes`.
    ///
    /// - Parameter schemes: the accepted schemes in lower case, each with whether it uses TLS and its default port.
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

    /// Returns a URL for messages and logs, with everything before an `@` in its authority replaced by `…`.
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

    /// The host and port as written in a URL. The scheme's default port is left out.
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
