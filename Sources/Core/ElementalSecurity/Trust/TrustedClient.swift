import ElementalWire
import Support

/// A client that may use services of this end.
///
/// A client that has different roles for different services has an entry for each role.
public struct TrustedClient: Sendable, Hashable {
    /// The services that a grant is for.
    public enum Services: Sendable, Hashable {
        /// All services that use this store.
        case all
        /// The services with these names, such as `robot`.
        case named(Set<String>)
    }

    /// The client's key.
    public var fingerprint: Fingerprint
    /// The client's name, which no other key may have: 1 to 64 bytes of UTF-8, no control characters.
    public var name: String
    /// The client's role; `nil`, which grants nothing, for a role that this version does not know.
    public var role: Role? {
        get { storedRole.role }
        set { storedRole = StoredRole(newValue) }
    }
    /// The services that it may use.
    public var services: Services
    /// The client that opened the pairing window; `nil` if it was opened on this machine.
    public var pairedBy: Fingerprint?

    var storedRole: StoredRole

    /// Creates a client that may use `services` with `role`.
    public init(
        fingerprint: Fingerprint, name: String, role: Role, services: Services, pairedBy: Fingerprint? = nil
    ) {
        self.fingerprint = fingerprint
        self.name = name
        self.services = services
        self.pairedBy = pairedBy
        storedRole = StoredRole(role)
    }
}

extension TrustedClient.Services: ExpressibleByArrayLiteral {
    /// Creates a list of the services with these names.
    public init(arrayLiteral names: String...) { self = .named(Set(names)) }

    /// Whether the list contains the service of this name.
    public func contains(_ service: String) -> Bool {
        switch self {
        case .all: true
        case .named(let names): names.contains { $0.isSameName(as: service) }
        }
    }
}
