import Support

/// A text that may be written in a colour. The colours are the program's own: the text is escaped when it is written.
struct Styled: Sendable {
    enum Style: String, Sendable {
        case plain = ""
        case heading = "1"
        case faint = "2"
        case bad = "31"
        case good = "32"
        case warning = "33"
    }

    let text: String
    let style: Style

    init(_ text: String, _ style: Style = .plain) {
        self.text = text
        self.style = style
    }

    /// The text escaped, and in its colour where colours are shown.
    func printable(inColour: Bool) -> String {
        guard inColour, style != .plain else { return text.printable }
        return "\u{1B}[\(style.rawValue)m\(text.printable)\u{1B}[0m"
    }

    /// Whether to write colours: on a terminal that supports them, unless the user turns them off (no-color.org).
    static func hasColours(_ descriptor: Int32) -> Bool {
        func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        return isatty(descriptor) == 1 && variable("NO_COLOR").isEmpty && !["", "dumb"].contains(variable("TERM"))
    }
}

/// Rows of cells in columns as wide as their widest cell; a column without a text is left out.
struct Table: Sendable {
    /// The title of each column. A `>` in front aligns the column to the right.
    let titles: [String]
    var rows: [[Styled]] = []
    var indentation = ""

    /// The titles, and a line for each row; nothing for a table without rows.
    var lines: [[Styled]] {
        let titles = titles.map { Styled($0.hasPrefix(">") ? String($0.dropFirst()) : $0, .heading) }
        let columns = titles.indices.filter { column in rows.contains { !$0[column].text.isEmpty } }
        let all = ([titles] + rows).map { row in columns.map { row[$0] } }
        let widths = columns.indices.map { column in all.map { $0[column].text.columnCount }.max() ?? 0 }
        let areRight = columns.map { self.titles[$0].hasPrefix(">") }
        return columns.isEmpty ? [] : all.map { Self.line($0, widths, areRight: areRight, indentation) }
    }

    static func line(
        _ cells: [Styled], _ widths: [Int], areRight: [Bool] = [], _ indentation: String = ""
    ) -> [Styled] {
        var line: [Styled] = []
        var gap = indentation
        for (column, cell) in cells.enumerated() {
            let width = column < widths.count ? widths[column] : 0
            let fill = String(repeating: " ", count: max(0, width - cell.text.columnCount))
            let isRight = column < areRight.count && areRight[column]
            if isRight { gap += fill }
            // An empty cell is not written, so that no line ends with blanks.
            if !cell.text.isEmpty {
                line += [Styled(gap), cell]
                gap = ""
            }
            gap += (isRight ? "" : fill) + "  "
        }
        return line
    }
}

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

    func padded(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - columnCount)) }

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
