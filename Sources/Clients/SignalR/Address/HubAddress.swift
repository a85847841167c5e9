import ClientTransport

struct HubAddress: Sendable, Equatable {
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
        guard let parts = ServerURL(text, schemes: Self.schemes) else {
            throw invalid("give one that begins with http://, https://, ws:// or wss:// followed by a host")
        }
        guard parts.user == nil, !parts.hasPassword else {
            throw SignalRError(
                .invalidURL,
                "the address of a hub must not contain a user name or password: send an access token or a header "
                    + "instead")
        }
        guard parts.endpoint.isValid else { throw invalid("the port must be 1 to 65535") }
        endpoint = parts.endpoint
        path = parts.path.isEmpty ? "/" : parts.path
        query = parts.query
    }

    private static let schemes: [String: (isSecure: Bool, port: Int)] = [
        "http": (false, 80), "ws": (false, 80), "https": (true, 443), "wss": (true, 443),
    ]

    var negotiation: HubAddress {
        var address = self
        address.path += path.hasSuffix("/") ? "negotiate" : "/negotiate"
        return address
    }

    func adding(_ name: String, _ value: String) -> HubAddress {
        var address = self
        address.query += "\(query.isEmpty ? "" : "&")\(name)=\(value.percentEncoded)"
        return address
    }

    /// The request target, as in the first line of a request.
    var target: String { query.isEmpty ? path : "\(path)?\(query)" }

    /// The address for messages and logs, without its query.
    var text: String { "\(endpoint.isSecure ? "https" : "http")://\(endpoint.authority)\(path)" }
}
