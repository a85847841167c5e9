/// A client's permissions for a service. Each role includes those before it.
public enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Read.
    case observe
    /// Read and set.
    case control
    /// Also open a pairing window, and revoke what was granted.
    case admin

    private var rank: Int {
        switch self {
        case .observe: 1
        case .control: 2
        case .admin: 3
        }
    }

    /// Whether the first permits less than the second.
    public static func < (a: Role, b: Role) -> Bool { a.rank < b.rank }
}
