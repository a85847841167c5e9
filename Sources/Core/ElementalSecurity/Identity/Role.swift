/// What a client may do with a service. Each role may do what those before it may.
public enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Read.
    case observe
    /// Read and set.
    case control
    /// Also open a window for pairing, and revoke what was granted.
    case admin

    private var rank: Int {
        switch self {
        case .observe: 1
        case .control: 2
        case .admin: 3
        }
    }

    /// Whether the one may do less than the other.
    public static func < (a: Role, b: Role) -> Bool { a.rank < b.rank }
}
