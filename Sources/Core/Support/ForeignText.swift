// Text of files, programs and payloads, which may begin with a byte-order mark and end lines as Windows does.
extension BidirectionalCollection<UInt8> {
    /// The bytes without UTF-8's byte-order mark at their beginning.
    package var withoutByteOrderMark: SubSequence { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }

    /// The bytes without the end of a line at their end: LF, CR LF or CR.
    package var withoutLineEnd: SubSequence {
        var rest = self[...]
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        return rest
    }

    /// The text's first line, without its end and without a byte-order mark.
    package var firstLine: SubSequence {
        let text = withoutByteOrderMark
        return text[..<(text.firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex)].withoutLineEnd
    }
}

extension Character {
    /// Whether it ends a line. CR LF is one character, which a comparison with "\n" does not find.
    package var isLineEnd: Bool { self == "\n" || self == "\r\n" }
}
