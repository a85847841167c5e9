import ElementalWire
import Support

/// A client that may use services of this end.
///
/// A client that has different roles for different services has an entry for each role.
public struct TrustedClient: Sendable, Hashable {
    /// The services that a grant is for.
    public enum Services: Sendable, Hashable {
        /// All that use this store.
        case all
        /// Those with these names, such as `robot`.
        case named(Set<String>)
    }

    /// The client's key.
    public var fingerprint: Fingerprint
    /// The client's name, which no other key has: 1 to 64 bytes of UTF-8, no control characters.
    public var name: String
    /// What it may do; `nil`, which is nothing, for a role that this version does not know.
    public var role: Role? {
        get { storedRole.role }
        set { storedRole = StoredRole(newValue) }
    }
    /// The services that it may use.
    public var services: Services
    /// The client that opened the pairing window; `nil` if that was done on this machine.
    public var pairedBy: Fingerprint?

    var storedRole: StoredRole

    /// A client that may use `services` with `role`.
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
    /// The services with these names.
    public init(arrayLiteral names: String...) { self = .named(Set(names)) }

    /// Whether the service with that name is among them.
    public func contains(_ service: String) -> Bool {
        switch self {
        case .all: true
        case .named(let names): names.contains { $0.isSameName(as: service) }
        }
    }
}
