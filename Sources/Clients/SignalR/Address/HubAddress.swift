import ClientTransport

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
        guard let parts = ServerURL(text), let isSecure = Self.schemes[parts.scheme]
        else {
            throw SignalRError(
                .invalidURL,
                "'\(ServerURL.withoutCredentials(text))' is not the address of a hub: give one that begins with http://, "
                    + "https://, ws:// or wss:// followed by a host")
        }
        guard parts.user == nil, !parts.hasPassword else {
            throw SignalRError(
                .invalidURL,
                "the address of a hub must not contain a user name or password: send an access token or a header "
                    + "instead")
        }
        let port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65535).contains(port) else {
            throw SignalRError(
                .invalidURL, "'\(ServerURL.withoutCredentials(text))' is not the address of a hub: ports are 1 to 65535"
            )
        }
        self.init(
            isSecure: isSecure, host: parts.host, port: port, path: parts.path.isEmpty ? "/" : parts.path,
            query: parts.query)
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

    /// The same address with one more query item.
    func adding(_ name: String, _ value: String) -> HubAddress {
        let value = value.percentEncoded
        return HubAddress(
            isSecure: isSecure, host: host, port: port, path: path,
            query: query.isEmpty ? "\(name)=\(value)" : "\(query)&\(name)=\(value)")
    }

    /// The request target: what the first line of a request contains.
    var target: String { query.isEmpty ? path : "\(path)?\(query)" }

    /// Where to connect.
    var endpoint: ServerEndpoint { ServerEndpoint(host: host, port: port, isSecure: isSecure) }

    /// The value of the `Host` header.
    var hostHeader: String { endpoint.authority(defaultPort: isSecure ? 443 : 80) }

    /// The address for messages and logs, without its query.
    var text: String { "\(isSecure ? "https" : "http")://\(hostHeader)\(path)" }
}
