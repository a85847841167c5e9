/// The checksum that MCAP has from zlib: CRC-32 with the polynomial 0xEDB88320 (ISO 3309).
struct CRC32 {
    private var state: UInt32 = 0xFFFF_FFFF

    init(_ bytes: [UInt8] = []) { add(bytes) }

    var value: UInt32 { ~state }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        Self.table.withUnsafeBufferPointer { table in
            for byte in bytes { state = table[Int((state ^ UInt32(byte)) & 0xFF)] ^ (state >> 8) }
        }
        self.state = state
    }

    mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// The checksum of each byte.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(byte) { state, _ in state & 1 == 1 ? 0xEDB8_8320 ^ (state >> 1) : state >> 1 }
    }
}
