import ClientTransport
import Support

/// The address of a broker: `mqtt[s]://[USER@]HOST[:PORT]`.
public struct MQTTAddress: Sendable, Hashable, CustomStringConvertible {
    let endpoint: ServerEndpoint
    /// The host name in ASCII, or an address, without the brackets of an IPv6 address.
    public var host: String { endpoint.host }
    /// The port, 1...65535. The default is 1883, or 8883 with TLS.
    public var port: Int { endpoint.port }
    /// Whether the connection uses TLS: `mqtts`.
    public var isSecure: Bool { endpoint.isSecure }
    /// The user name, decoded, if the address has one.
    public let user: String?

    /// Reads an address such as `mqtts://kitchen@broker.example:8883`.
    ///
    /// - Throws: ``MQTTError/Code/invalidAddress``, also for an address with a password.
    public init(_ url: String) throws(MQTTError) {
        let text = ServerURL.withoutCredentials(url).printable
        func invalid(_ what: String) -> MQTTError {
            MQTTError(.invalidAddress, "'\(text)' is not the address of a broker: \(what)")
        }
        guard let parts = ServerURL(url, schemes: ["mqtt": (false, 1883), "mqtts": (true, 8883)]) else {
            throw invalid("give one that begins with mqtt:// or mqtts:// followed by a host")
        }
        guard !parts.hasPassword else {
            throw MQTTError(
                .invalidAddress,
                "the address of a broker must not contain a password, which would be visible wherever addresses are "
                    + "shown: give the password in the options, and the user alone before the @")
        }
        guard parts.user != "" else { throw invalid("give a user before the @, or leave the @ out") }
        guard parts.path.isEmpty || parts.path == "/", parts.query.isEmpty, !parts.hasFragment else {
            throw invalid("leave out everything after the host and the port")
        }
        guard parts.endpoint.isValid else { throw invalid("the port must be 1 to 65535") }
        endpoint = parts.endpoint
        user = parts.user
    }

    /// The address in its shortest form.
    public var description: String {
        let user = user.map { $0.percentEncoded + "@" } ?? ""
        return "\(isSecure ? "mqtts" : "mqtt")://\(user)\(endpoint.authority)"
    }
}
