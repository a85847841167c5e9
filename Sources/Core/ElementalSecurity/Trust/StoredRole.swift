import ElementalWire

/// A role as a store has it: one that this version does not know grants nothing, and is kept.
struct StoredRole: Sendable, Hashable {
    /// The name in the store.
    let name: String

    init(name: String) { self.name = name }

    init(_ role: Role?) { name = Role.granted.first { $0 == role }?.rawValue ?? "none" }

    /// What it grants. Not `plain`, which unencrypted clients have.
    var role: Role? { Role.granted.first { $0.rawValue == name } }
}
