import ElementalWire

/// A role as a store has it: one that this version does not know grants nothing, and is kept.
struct StoredRole: Sendable, Hashable {
    /// What is granted, and its name in a store. Only these can be: `plain`, which unencrypted clients have, is no grant.
    private static let known: [(name: String, role: Role)] = [
        ("observe", .observe), ("control", .control), ("admin", .admin),
    ]

    /// The name in the store.
    let name: String

    init(name: String) { self.name = name }

    init(_ role: Role?) { name = Self.known.first { $0.role == role }?.name ?? "none" }

    /// What it grants.
    var role: Role? { Self.known.first { $0.name == name }?.role }
}
