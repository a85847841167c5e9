/// A client's permissions for a service. Each role includes those before it.
///
/// What a role permits depends on the service's ``SecurityPolicy`` and on the element: see
/// ``ElementDefinition/readers`` and ``ElementDefinition/writers``.
public enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A client that is not paired and whose connection is not encrypted. It is never granted or stored.
    case plain
    /// Read.
    case observe
    /// Read and set.
    case control
    /// Also open a pairing window, and revoke granted roles.
    case admin

    /// The roles that a service can grant to a paired client, the lowest first.
    public static var granted: [Role] { [.observe, .control, .admin] }

    /// The role as a byte: 0 for ``plain`` to 3 for ``admin``.
    public var code: UInt8 {
        switch self {
        case .plain: 0
        case .observe: 1
        case .control: 2
        case .admin: 3
        }
    }

    /// The role of that ``code``; `nil` if there is none.
    public init?(code: UInt8) {
        switch code {
        case Role.plain.code: self = .plain
        case Role.observe.code: self = .observe
        case Role.control.code: self = .control
        case Role.admin.code: self = .admin
        default: return nil
        }
    }

    /// Whether the first permits less than the second.
    public static func < (a: Role, b: Role) -> Bool { a.code < b.code }
}
