/// The CRC-32 of Ethernet and zlib, without a table.
///
/// It finds every burst of up to 32 bits, and leaves one in 4,294,967,296 of the other garbled packets unnoticed. A
/// CRC-16 would not do: 115,200 baud with one byte in a hundred garbled has up to 100 broken packets a second, of which
/// one every 11 minutes would pass.
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

    /// The remainder of four bits, by the polynomial 0xEDB88320 (reflected 0x04C11DB7).
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
