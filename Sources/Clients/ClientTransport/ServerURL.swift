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
