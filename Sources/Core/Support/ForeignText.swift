// Text of files, programs and payloads may begin with a byte-order mark and have CR LF at the ends of its lines.
extension BidirectionalCollection<UInt8> {
    /// The bytes without UTF-8's byte-order mark at their beginning.
    package var withoutByteOrderMark: SubSequence { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }

    /// The bytes without a line ending at their end: LF, CR LF or CR.
    package var withoutLineEnd: SubSequence {
        var rest = self[...]
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        return rest
    }

    /// The text's first line, without a line ending and without a byte-order mark.
    package var firstLine: SubSequence {
        let text = withoutByteOrderMark
        return text[..<(text.firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex)].withoutLineEnd
    }
}

extension Character {
    /// Whether the character is a line ending. CR LF is one character, so that a comparison with "\n" does not match it.
    package var isLineEnd: Bool { self == "\n" || self == "\r\n" }
}
