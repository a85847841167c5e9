extension Substring {
    /// The text without the blanks and tabs at its ends.
    package var withoutBlanks: Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = utf8.firstIndex(where: { !isBlank($0) }), let last = utf8.lastIndex(where: { !isBlank($0) })
        else { return self[endIndex...] }
        return self[first..<utf8.index(after: last)]
    }

    /// Removes the ASCII prefix, if the text begins with it.
    ///
    /// - Returns: whether the text began with it.
    mutating func dropPrefix(_ prefix: String) -> Bool {
        guard utf8.starts(with: prefix.utf8) else { return false }
        self = self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]
        return true
    }

    /// The bytes that the text's pairs of hexadecimal digits encode; `nil` for any other text.
    package var hexadecimalBytes: [UInt8]? {
        var text = self
        return text.withUTF8 { digits -> [UInt8]? in
            guard digits.count.isMultiple(of: 2) else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(digits.count / 2)
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = Self.hexadecimalValue(digits[index]),
                    let low = Self.hexadecimalValue(digits[index + 1])
                else { return nil }
                bytes.append(high << 4 | low)
            }
            return bytes
        }
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
