/// A set of element identifiers, 0...127, as a bit for each.
struct IdentifierBits: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    private static func bit(_ id: Int8) -> UInt64 { 1 << UInt64(id & 63) }

    /// - Returns: `false` if it is in the set already.
    mutating func insert(_ id: Int8) -> Bool {
        id < 64 ? Self.insert(Self.bit(id), into: &low) : Self.insert(Self.bit(id), into: &high)
    }

    private static func insert(_ bit: UInt64, into word: inout UInt64) -> Bool {
        defer { word |= bit }
        return word & bit == 0
    }

    /// - Returns: `false` if it is not in the set.
    mutating func remove(_ id: Int8) -> Bool {
        id < 64 ? Self.remove(Self.bit(id), from: &low) : Self.remove(Self.bit(id), from: &high)
    }

    private static func remove(_ bit: UInt64, from word: inout UInt64) -> Bool {
        defer { word &= ~bit }
        return word & bit != 0
    }

    func forEach(_ body: (Int8) -> Void) {
        for (word, first) in [(low, Int8(0)), (high, Int8(64))] {
            var rest = word
            while rest != 0 {
                body(first + Int8(rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
    }
}
