/// A set of element identifiers, 0...127, as a bit for each.
struct IdentifierBits: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// - Returns: `false` if it is in the set already.
    mutating func insert(_ id: Int8) -> Bool {
        let bit = UInt64(1) << UInt64(id & 63)
        if id < 64 {
            guard low & bit == 0 else { return false }
            low |= bit
        } else {
            guard high & bit == 0 else { return false }
            high |= bit
        }
        return true
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
