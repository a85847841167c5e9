import Support

extension String {
    /// The text as one argument of a command to be typed, in quotes if the shell would take it for anything else.
    var shellArgument: String {
        let isPlain =
            !isEmpty
            && unicodeScalars.allSatisfy { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                    || "-_./:@%+=,".unicodeScalars.contains(scalar)
            }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }

    /// How many columns of a terminal the text takes as ``Console`` shows it, with its escapes.
    var columnCount: Int { printable.unicodeScalars.reduce(0) { $0 + $1.columnCount } }

    func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - columnCount))
    }

    /// The text, cut and followed by "..." if it takes more columns than that.
    func cut(to columns: Int) -> String {
        prefix(columns: columns).endIndex == endIndex ? self : prefix(columns: columns - 3) + "..."
    }

    /// The longest prefix that takes no more columns than that.
    ///
    /// The work is bounded, however long the text is and however many combining marks, which take no column, it has.
    func prefix(columns: Int) -> Substring {
        var rest = columns
        let beginning = unicodeScalars.prefix(8 * columns)
        let end = beginning.indices.first { index in
            rest -= String(beginning[index]).columnCount
            return rest < 0
        }
        return self[..<(end ?? beginning.endIndex)]
    }
}

extension Unicode.Scalar {
    /// How many columns most terminals give it: none for combining marks, two for ideographs and emoji.
    fileprivate var columnCount: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if value < 0x1100 { return 1 }
        if properties.isEmojiPresentation { return 2 }
        switch value {
        // The blocks that Unicode calls wide or full-width (UAX #11): Hangul, Chinese and Japanese, full-width forms.
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
