/// The checksum of zlib and of MCAP: CRC-32 with the polynomial 0xEDB88320 (ISO 3309).
package struct CRC32 {
    private var state: UInt32 = 0xFFFF_FFFF

    package init(_ bytes: [UInt8] = []) { add(bytes) }

    /// The checksum of everything so far.
    package var value: UInt32 { ~state }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        var rest = bytes
        Self.tables.withUnsafeBufferPointer { tables in
            // Eight bytes at a time, each with a table of its own.
            while rest.count >= 8 {
                let word = rest.loadUnaligned(as: UInt64.self).littleEndian ^ UInt64(state)
                state = 0
                for place in 0..<8 {
                    state ^= tables[(7 - place) << 8 | Int(truncatingIfNeeded: word >> (8 * UInt64(place)) & 0xFF)]
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[8...])
            }
            for byte in rest { state = tables[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state >> 8) }
        }
        self.state = state
    }

    package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// Eight tables of 256 entries, one after the other: table n has the checksums of a byte followed by n zeros.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 << 8)
        for byte in 0..<256 {
            var state = UInt32(byte)
            for _ in 0..<8 { state = state & 1 == 1 ? 0xEDB8_8320 ^ (state >> 1) : state >> 1 }
            tables[byte] = state
        }
        for place in 256..<(8 << 8) {
            let before = tables[place - 256]
            tables[place] = tables[Int(before & 0xFF)] ^ (before >> 8)
        }
        return tables
    }()
}
