import ClientTransport

/// The address of a hub, from which a connection's requests are made.
struct HubAddress: Sendable, Equatable {
    /// Where to connect.
    let endpoint: ServerEndpoint
    /// Begins with `/`; percent-encoded.
    private var path: String
    /// Percent-encoded, without the question mark; may be empty.
    private var query: String

    /// Reads an address such as `https://example.org/chat?user=1`.
    init(_ text: String) throws(SignalRError) {
        func invalid(_ what: String) -> SignalRError {
            let shown = ServerURL.withoutCredentials(text)
            return SignalRError(.invalidURL, "'\(shown)' is not the address of a hub: \(what)")
        }
        guard let parts = ServerURL(text), let isSecure = Self.schemes[parts.scheme] else {
            throw invalid("give one that begins with http://, https://, ws:// or wss:// followed by a host")
        }
        guard parts.user == nil, !parts.hasPassword else {
            throw SignalRError(
                .invalidURL,
                "the address of a hub must not contain a user name or password: send an access token or a header "
                    + "instead")
        }
        let port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65535).contains(port) else { throw invalid("ports are 1 to 65535") }
        endpoint = ServerEndpoint(host: parts.host, port: port, isSecure: isSecure)
        path = parts.path.isEmpty ? "/" : parts.path
        query = parts.query
    }

    private static let schemes = ["http": false, "ws": false, "https": true, "wss": true]

    /// The address of the negotiation.
    var negotiation: HubAddress {
        var address = self
        address.path += path.hasSuffix("/") ? "negotiate" : "/negotiate"
        return address
    }

    /// The same address with one more query item.
    func adding(_ name: String, _ value: String) -> HubAddress {
        var address = self
        address.query += "\(query.isEmpty ? "" : "&")\(name)=\(value.percentEncoded)"
        return address
    }

    /// The request target: what the first line of a request contains.
    var target: String { query.isEmpty ? path : "\(path)?\(query)" }

    /// The value of the `Host` header.
    var hostHeader: String { endpoint.authority(defaultPort: endpoint.isSecure ? 443 : 80) }

    /// The address for messages and logs, without its query.
    var text: String { "\(endpoint.isSecure ? "https" : "http")://\(hostHeader)\(path)" }
}
