/// Compresses bytes into one deflate block with the fixed codes (RFC 1951).
struct Deflate {
    private static let longestMatch = 258
    private static let farthestMatch = 32_768
    private static let endOfBlock = 256

    /// The first length of each length code, from 257, and the bits that follow the code.
    private static let lengths: [(first: Int, bits: Int)] = [
        (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 1), (13, 1), (15, 1), (17, 1), (19, 2),
        (23, 2), (27, 2), (31, 2), (35, 3), (43, 3), (51, 3), (59, 3), (67, 4), (83, 4), (99, 4), (115, 4), (131, 5),
        (163, 5), (195, 5), (227, 5), (258, 0),
    ]
    /// The first distance of each distance code, and the bits that follow the code.
    private static let distances: [(first: Int, bits: Int)] = (0..<30).map { code in
        let bits = max(code / 2 - 1, 0)
        // From the fifth on there are two codes for each number of bits.
        let first = code < 4 ? code : (2 + code % 2) << bits
        return (first + 1, bits)
    }

    private var output: [UInt8] = []
    private var pending: UInt64 = 0
    private var pendingCount = 0

    /// The compressed block.
    mutating func compress(_ data: [UInt8]) -> [UInt8] {
        // The last block, with fixed codes.
        write(0b011, 3)
        // The last position of three bytes, by their hash.
        var seen = [Int](repeating: -1, count: 1 << 13)
        var position = 0
        while position < data.count {
            guard position + 2 < data.count else {
                writeCode(Int(data[position]))
                position += 1
                continue
            }
            let hash = hash(data, position)
            let candidate = seen[hash]
            seen[hash] = position
            let length = candidate < 0 ? 0 : match(data, candidate, position)
            if length >= 3 && position - candidate <= Self.farthestMatch {
                writeMatch(length: length, distance: position - candidate)
                position += length
            } else {
                writeCode(Int(data[position]))
                position += 1
            }
        }
        writeCode(Self.endOfBlock)
        if pendingCount > 0 { output.append(UInt8(truncatingIfNeeded: pending)) }
        return output
    }

    private func hash(_ data: [UInt8], _ position: Int) -> Int {
        let bytes = UInt32(data[position]) << 16 | UInt32(data[position + 1]) << 8 | UInt32(data[position + 2])
        return Int((bytes &* 0x9E37_79B1) >> 19)
    }

    private func match(_ data: [UInt8], _ earlier: Int, _ position: Int) -> Int {
        let limit = min(Self.longestMatch, data.count - position)
        var length = 0
        while length < limit && data[earlier + length] == data[position + length] { length += 1 }
        return length
    }

    private mutating func writeMatch(length: Int, distance: Int) {
        let code = Self.lengths.lastIndex { $0.first <= length } ?? 0
        writeCode(257 + code)
        write(UInt64(length - Self.lengths[code].first), Self.lengths[code].bits)
        let place = Self.distances.lastIndex { $0.first <= distance } ?? 0
        writeReversed(place, 5)
        write(UInt64(distance - Self.distances[place].first), Self.distances[place].bits)
    }

    /// Writes a literal, a length or the end by its fixed code (RFC 1951, section 3.2.6).
    private mutating func writeCode(_ symbol: Int) {
        switch symbol {
        case 0...143: writeReversed(0x30 + symbol, 8)
        case 144...255: writeReversed(0x190 + symbol - 144, 9)
        case 256...279: writeReversed(symbol - 256, 7)
        default: writeReversed(0xC0 + symbol - 280, 8)
        }
    }

    /// Codes are written with their highest bit first, everything else with its lowest.
    private mutating func writeReversed(_ code: Int, _ count: Int) {
        var reversed: UInt64 = 0
        for bit in 0..<count { reversed = reversed << 1 | UInt64(code >> bit & 1) }
        write(reversed, count)
    }

    private mutating func write(_ bits: UInt64, _ count: Int) {
        pending |= bits << UInt64(pendingCount)
        pendingCount += count
        while pendingCount >= 8 {
            output.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingCount -= 8
        }
    }
}
