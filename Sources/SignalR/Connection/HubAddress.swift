import Foundation
import NIOHTTP1

/// Where a hub is: what the requests of a connection are made of.
struct HubAddress: Sendable, Equatable {
    /// Whether TLS carries it: `https` and `wss`.
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
            let isSecure = Self.schemes[scheme], let encodedHost = parts.encodedHost, !encodedHost.isEmpty
        else {
            throw SignalRError(
                .invalidURL,
                "'\(text)' is not a hub's address: it begins with http://, https://, ws:// or wss:// and a host")
        }
        var host = encodedHost.removingPercentEncoding ?? encodedHost
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65535).contains(port) else {
            throw SignalRError(.invalidURL, "'\(text)' is not a hub's address: ports are 1 to 65535")
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

    private static let schemes = ["http": false, "ws": false, "https": true, "wss": true]

    /// The address of the negotiation.
    var negotiation: HubAddress {
        HubAddress(
            isSecure: isSecure, host: host, port: port,
            path: path.hasSuffix("/") ? path + "negotiate" : path + "/negotiate",
            query: query)
    }

    /// The same with one more item in its query.
    func adding(_ name: String, _ value: String) -> HubAddress {
        let value = value.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
        return HubAddress(
            isSecure: isSecure, host: host, port: port, path: path,
            query: query.isEmpty ? "\(name)=\(value)" : "\(query)&\(name)=\(value)")
    }

    /// RFC 3986, 2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// What stands in a request's first line.
    var target: String { query.isEmpty ? path : "\(path)?\(query)" }

    /// What stands in the `Host` header.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// For a person.
    var text: String { "\(isSecure ? "https" : "http")://\(hostHeader)\(path)" }
}
