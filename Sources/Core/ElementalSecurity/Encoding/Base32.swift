/// Base32 (RFC 4648) for users to read: lower case, no padding, in groups of four characters or in one piece.
enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The text of the bytes, without groups.
    static func encode(_ bytes: [UInt8]) -> String {
        var bits: UInt32 = 0
        var bitCount = 0
        var characters: [UInt8] = []
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                characters.append(alphabet[Int(bits >> UInt32(bitCount) & 31)])
            }
            bits &= 1 << UInt32(bitCount) - 1
        }
        if bitCount > 0 { characters.append(alphabet[Int(bits << UInt32(5 - bitCount) & 31)]) }
        return String(decoding: characters, as: UTF8.self)
    }

    /// The text in groups of four characters, with hyphens between them.
    static func grouped(_ bytes: [UInt8]) -> String {
        let characters = Array(encode(bytes).utf8)
        return stride(from: 0, to: characters.count, by: 4)
            .map { String(decoding: characters[$0..<min($0 + 4, characters.count)], as: UTF8.self) }
            .joined(separator: "-")
    }

    /// Parses a text with or without groups, in upper or lower case.
    ///
    /// - Returns: the bytes, or `nil` if a character is not base32 or the last one has excess bits that are not 0: each
    ///   list of bytes has one text.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bits: UInt32 = 0
        var bitCount = 0
        var bytes: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            guard let value = value(byte) else { return nil }
            bits = bits << 5 | value
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
                bits &= 1 << UInt32(bitCount) - 1
            }
        }
        return bits == 0 && bitCount < 5 ? bytes : nil
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(byte - UInt8(ascii: "2") + 26)
        default: nil
        }
    }
}
