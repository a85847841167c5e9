public import ElementalSecurity
public import ElementalWire

/// Which services a client trusts, and how it authenticates them.
///
/// ```swift
/// options.security = .automatic(identity: identity, store: store)
/// ```
/// Connections to a paired service are always encrypted, except with ``open``; another service under its name, host or
/// address is not connected to. A pairing made during a connection takes effect within two seconds.
public struct ClientSecurity: Sendable {
    enum Mode {
        case open, automatic, required
    }

    typealias Keys = ServiceSecurity.Keys

    let mode: Mode
    let source: ClientKeys?
    /// As last read; `nil` if the client has no identity yet.
    var keys: Keys? { source?.known }
    /// The role that the client asks for. It gets this or the one that the service grants, whichever is less.
    public var role = Role.control

    /// Nothing is encrypted, not even the connection to a paired service.
    public static let open = ClientSecurity(mode: .open, source: nil)

    /// The client has no identity, so it cannot use services that admit paired clients only.
    public static let automatic = ClientSecurity(mode: .automatic, source: nil)

    /// Connections to paired services are encrypted, those to other services are not.
    ///
    /// - Parameters:
    ///   - identity: the client's identity.
    ///   - store: the services it trusts. Read before each connection.
    public static func automatic(identity: any Identity, store: any TrustStore) -> ClientSecurity {
        ClientSecurity(mode: .automatic, source: ClientKeys(Keys(identity: identity, store: store)))
    }

    /// For a client whose identity appears only when another program of the user pairs.
    ///
    /// - Parameter find: returns the identity and the store, or `nil` if there are none yet. It may block.
    package static func automatic(
        finding find: @escaping @Sendable () throws -> (identity: any Identity, store: any TrustStore)?
    ) -> ClientSecurity {
        let source = ClientKeys { try find().map { Keys(identity: $0.identity, store: $0.store) } }
        return ClientSecurity(mode: .automatic, source: source)
    }

    /// The client connects only to paired services and to those with its own identity, always encrypted. It also
    /// connects to an unknown host and port; the key of the service there then decides.
    ///
    /// - Parameters:
    ///   - identity: the client's identity.
    ///   - store: the services it trusts. Read before each connection.
    public static func required(identity: any Identity, store: any TrustStore) -> ClientSecurity {
        ClientSecurity(mode: .required, source: ClientKeys(Keys(identity: identity, store: store)))
    }
}
