public import ElementalSecurity
public import ElementalWire

/// A connection that a service can accept or refuse before it is set up.
///
/// The service is asked twice: with the address alone when the connection arrives, and again when the client has sent
/// its name.
public struct ConnectionRequest: Sendable {
    /// The client's address and port, as text.
    public let address: String
    /// The client's host address without the port, as text.
    public let host: String
    /// The name that the client sent; `nil` if it has not sent one yet.
    public let name: String?
    /// The client's role; ``Role/plain`` unless it is paired.
    public let role: Role
    /// The client's proven identity; `nil` if it is not paired.
    public let fingerprint: Fingerprint?
    /// How many devices are connected.
    public let deviceCount: Int
}

/// The answer to a ``ConnectionRequest``.
public enum Admission: Sendable, Hashable {
    /// Accept the connection.
    case accept
    /// Close the connection and send the client this reason.
    case refuse(String)
}
