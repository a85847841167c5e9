import NIOHTTP1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The address of a hub, from which a connection's requests are made.
struct HubAddress: Sendable, Equatable {
    /// Whether the connection uses TLS: `https` and `wss`.
    let isSecure: Bool
    /// The host without the brackets of an IPv6 address.
    let host: String
    let port: Int
    /// Begins with `/`; percent-encoded.
    let path: String
    /// Percent-encoded, without the question mark; may be empty.
    let query: String

    /// Reads an address such as `https://example.org/chat?user=1`.
    init(_ text: String) throws(SignalRError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let isSecure = Self.schemes[scheme], let host = Self.host(parts), !host.isEmpty
        else {
            throw SignalRError(
                .invalidURL,
                "'\(Self.withoutCredentials(text))' is not the address of a hub: give one that begins with http://, "
                    + "https://, ws:// or wss:// followed by a host")
        }
        guard parts.percentEncodedUser == nil, parts.percentEncodedPassword == nil else {
            throw SignalRError(
                .invalidURL,
                "the address of a hub must not contain a user name or password: send an access token or a header "
                    + "instead")
        }
        let port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65535).contains(port) else {
            throw SignalRError(
                .invalidURL, "'\(Self.withoutCredentials(text))' is not the address of a hub: ports are 1 to 65535")
        }
        self.init(
            isSecure: isSecure, host: host, port: port,
            path: parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath,
            query: parts.percentEncodedQuery ?? "")
    }

    private init(isSecure: Bool, host: String, port: Int, path: String, query: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }

    /// The host without the brackets of an IPv6 address; `nil` if it cannot be a host.
    private static func host(_ parts: URLComponents) -> String? {
        guard let host = parts.host else { return nil }
        return host.hasPrefix("[") && host.hasSuffix("]")
            ? String(host.dropFirst().dropLast()) : DomainName.ascii(host)
    }

    /// An address for messages and logs, without what may be a user name and password.
    static func withoutCredentials(_ text: String) -> String {
        let start = text.firstRange(of: "//")?.upperBound ?? text.startIndex
        let authority = text[start...].prefix { !"/?#".contains($0) }
        guard let sign = authority.lastIndex(of: "@") else { return text }
        return text[..<start] + "…" + text[sign...]
    }

    private static let schemes = ["http": false, "ws": false, "https": true, "wss": true]

    /// The address of the negotiation.
    var negotiation: HubAddress {
        HubAddress(
            isSecure: isSecure, host: host, port: port,
            path: path.hasSuffix("/") ? path + "negotiate" : path + "/negotiate",
            query: query)
    }

    /// The same address with one more query item.
    func adding(_ name: String, _ value: String) -> HubAddress {
        let value = Self.percentEncoded(value)
        return HubAddress(
            isSecure: isSecure, host: host, port: port, path: path,
            query: query.isEmpty ? "\(name)=\(value)" : "\(query)&\(name)=\(value)")
    }

    /// Encodes everything but RFC 3986's unreserved characters (section 2.3).
    private static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
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

    /// The request target: what the first line of a request contains.
    var target: String { query.isEmpty ? path : "\(path)?\(query)" }

    /// The value of the `Host` header.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The address for messages and logs, without its query.
    var text: String { "\(isSecure ? "https" : "http")://\(hostHeader)\(path)" }
}
