/// A connection that a service is asked about before it is set up.
///
/// The question comes twice: with the address alone when the connection arrives, and again when the client has told
/// its name.
public struct ConnectionRequest: Sendable {
    /// The client's address and port, as text.
    public let address: String
    /// The client's host address without the port, as text.
    public let host: String
    /// What the client calls itself; `nil` when it has not said yet.
    public let name: String?
    /// How many devices are connected.
    public let deviceCount: Int
}

/// The answer to a ``ConnectionRequest``.
public enum Admission: Sendable, Hashable {
    /// Let it go on.
    case accept
    /// Close it; the client is told this reason.
    case refuse(String)
}
