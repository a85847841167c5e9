/// The CRC-32 of Ethernet and zlib, without a table.
///
/// It detects every burst of up to 32 bits, and misses one in 4,294,967,296 of the other garbled packets. A CRC-16 is
/// too weak: 115,200 baud with one garbled byte in a hundred has up to 100 broken packets a second, of which one would
/// pass every 11 minutes.
enum CRC32 {
    static func of(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UInt32 {
        var crc = UInt32.max
        for index in 0..<count {
            crc ^= UInt32(bytes[index])
            crc = crc >> 4 ^ entry(crc & 15)
            crc = crc >> 4 ^ entry(crc & 15)
        }
        return ~crc
    }

    /// The remainder of four bits with the polynomial 0xEDB88320 (reflected 0x04C11DB7).
    @inline(__always)
    private static func entry(_ bits: UInt32) -> UInt32 {
        var rest = bits
        rest = rest >> 1 ^ (0xEDB8_8320 & (0 &- (rest & 1)))
        rest = rest >> 1 ^ (0xEDB8_8320 & (0 &- (rest & 1)))
        rest = rest >> 1 ^ (0xEDB8_8320 & (0 &- (rest & 1)))
        rest = rest >> 1 ^ (0xEDB8_8320 & (0 &- (rest & 1)))
        return rest
    }
}
