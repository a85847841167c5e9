import ElementalWire

extension Role {
    /// The roles that can be asked for and granted, in the order of their bytes, from 1.
    private static let grantable: [Role] = [.observe, .control, .admin]

    /// The role's byte in messages of admission.
    var wireByte: UInt8 { UInt8((Self.grantable.firstIndex(of: self) ?? 0) + 1) }

    /// - Returns: `nil` if no role has this byte.
    init?(wireByte: UInt8) {
        guard (1...Self.grantable.count).contains(Int(wireByte)) else { return nil }
        self = Self.grantable[Int(wireByte) - 1]
    }
}
