/// A set of elements' identifiers, 0...127, as plain bits.
struct IdentifierSet {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    @inline(__always)
    func contains(_ id: Int8) -> Bool {
        (id < 64 ? low : high) & Self.bit(id) != 0
    }

    mutating func insert(_ id: Int8) {
        if id < 64 { low |= Self.bit(id) } else { high |= Self.bit(id) }
    }

    mutating func remove(_ id: Int8) {
        if id < 64 { low &= ~Self.bit(id) } else { high &= ~Self.bit(id) }
    }

    mutating func formUnion(_ other: IdentifierSet) {
        low |= other.low
        high |= other.high
    }

    @inline(__always)
    private static func bit(_ id: Int8) -> UInt64 { 1 << UInt64(id & 63) }
}
