import ElementalWire

/// A role as it is stored. A role that this version does not know grants nothing, but is kept.
struct StoredRole: Sendable, Hashable {
    /// The name in the store.
    let name: String

    init(name: String) { self.name = name }

    init(_ role: Role?) { name = Role.granted.first { $0 == role }?.rawValue ?? "none" }

    /// The granted role. Never `plain`, the role of unencrypted clients.
    var role: Role? { Role.granted.first { $0.rawValue == name } }
}
