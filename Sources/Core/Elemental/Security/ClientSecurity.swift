public import ElementalSecurity
public import ElementalWire

/// With which services a client speaks, and how it knows them.
///
/// ```swift
/// options.security = .automatic(identity: identity, store: store)
/// ```
/// A service that is paired is only ever spoken to encrypted, whatever this says except ``open``: another one under its
/// name, host or address is not connected to. One that is paired while it is connected without encryption, or for a
/// higher role, is connected to anew within two seconds.
public struct ClientSecurity: Sendable {
    enum Mode {
        case open, automatic, required
    }

    struct Keys: Sendable {
        let identity: any Identity
        let store: any TrustStore
    }

    let mode: Mode
    /// Identity and trusted services; `nil` if the client has none and gets none.
    let source: ClientKeys?
    /// Identity and trusted services; `nil` if the client has none.
    var keys: Keys? { source?.known }
    /// The role that the client asks for. It gets this or the one that the service grants, whichever is less.
    public var role = Role.control

    private init(_ mode: Mode, _ source: ClientKeys?) {
        self.mode = mode
        self.source = source
    }

    /// Whether it depends on the service how it is connected to. Otherwise nothing has to be read, or decided.
    ///
    /// - Parameter announced: what the service says that it requires.
    func needsDecision(_ announced: SecurityPolicy?) -> Bool {
        mode != .open && (source != nil || announced == .paired)
    }

    /// Nothing is encrypted, not even the connection to a service that is paired.
    public static let open = ClientSecurity(.open, nil)

    /// The client has no identity: services that admit paired clients only are not available to it.
    public static let automatic = ClientSecurity(.automatic, nil)

    /// Connections to paired services are encrypted, those to other services are not.
    ///
    /// - Parameters:
    ///   - identity: who the client is.
    ///   - store: the services it trusts. Read before each connection.
    public static func automatic(identity: any Identity, store: any TrustStore) -> ClientSecurity {
        ClientSecurity(.automatic, ClientKeys(Keys(identity: identity, store: store)))
    }

    /// The same for a client that may get its identity while it runs, when another program of the user pairs.
    ///
    /// - Parameter find: returns identity and trusted services once there are any. It may block.
    package static func automatic(
        finding find: @escaping @Sendable () throws -> (identity: any Identity, store: any TrustStore)?
    ) -> ClientSecurity {
        ClientSecurity(.automatic, ClientKeys { try find().map { Keys(identity: $0.identity, store: $0.store) } })
    }

    /// Only paired services are connected to, and those that have the client's own identity, encrypted. A host and port
    /// of which nothing is known are connected to, and the key that answers there decides.
    ///
    /// - Parameters:
    ///   - identity: who the client is.
    ///   - store: the services it trusts. Read before each connection.
    public static func required(identity: any Identity, store: any TrustStore) -> ClientSecurity {
        ClientSecurity(.required, ClientKeys(Keys(identity: identity, store: store)))
    }
}
