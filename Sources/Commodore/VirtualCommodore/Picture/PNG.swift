/// Writes PNG files with a palette of at most 16 colours (PNG specification, third edition).
enum PNG {
    /// Returns the bytes of a file.
    ///
    /// - Parameters:
    ///   - palette: the colours, 0xRRGGBB.
    ///   - rows: each row's filter byte and its points, 4 bits each.
    static func file(width: Int, height: Int, palette: [UInt32], _ rows: [UInt8]) -> [UInt8] {
        // 4 bits a point, palette, deflate, adaptive filters, not interlaced.
        let header = bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [4, 3, 0, 0, 0]
        let colours = palette.flatMap { bigEndian($0).dropFirst() }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", header) + chunk("PLTE", colours) + chunk("IDAT", zlib(rows)) + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bigEndian(UInt32(data.count)) + body + bigEndian(checksum(body))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }

    /// Compressed data with zlib's header and checksum (RFC 1950).
    private static func zlib(_ data: [UInt8]) -> [UInt8] {
        var a: UInt32 = 1
        var b: UInt32 = 0
        for byte in data {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        var deflate = Deflate()
        return [0x78, 0x01] + deflate.compress(data) + bigEndian(b << 16 | a)
    }

    /// The CRC-32 of PNG's annex D.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { checksums[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }

    private static let checksums: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}
