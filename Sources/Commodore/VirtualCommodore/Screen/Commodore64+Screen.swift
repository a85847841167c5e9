import PETSCII

extension Commodore64 {
    /// One of the screen's 1000 cells.
    public struct Cell: Sendable, Hashable {
        /// Which character, and whether it is reversed.
        public let code: ScreenCode
        /// The character's colour.
        public let colour: Colour
    }

    /// The screen's 25 rows of 40 cells, as the video chip reads them.
    public var cells: [[Cell]] {
        withVideo { memory in
            let screen = memory.videoBank | memory.video.screenOffset
            return (0..<Machine.rows).map { row in
                (0..<Machine.columns).map { column in
                    let index = row * Machine.columns + column
                    return Cell(
                        code: ScreenCode(rawValue: memory.ram[screen &+ UInt16(index)]),
                        colour: Colour(nibble: memory.colours[index]))
                }
            }
        }
    }

    /// The screen's 25 rows as text without trailing spaces; reversed characters are shown as plain ones.
    public var screenRows: [String] {
        let set = characterSet
        return cells.map { row in
            let text = row.map { $0.code.character(in: set) }
            let end = text.lastIndex { $0 != " " && $0 != "\u{A0}" }
            return String(text[..<(end.map { $0 + 1 } ?? 0)])
        }
    }

    /// The screen as text, 25 lines.
    public var screenText: String { screenRows.joined(separator: "\n") }

    /// The screen for a terminal with 24-bit colours, with a border around it: 25 rows and twice the border's rows.
    ///
    /// - Parameter border: the border's width in columns and its height in rows.
    /// - Returns: lines that each begin and end in the terminal's own colours, without line feeds.
    public func ansiRows(border: (columns: Int, rows: Int) = (4, 2)) -> [String] {
        let columns = max(border.columns, 0)
        let side = TerminalStyle.background(borderColour) + String(repeating: " ", count: columns)
        let edge =
            TerminalStyle.background(borderColour)
            + String(repeating: " ", count: Machine.columns + 2 * columns) + TerminalStyle.reset
        let edges = Array(repeating: edge, count: max(border.rows, 0))
        guard withVideo({ $0.video.isDisplayOn }) else {
            return edges + Array(repeating: edge, count: Machine.rows) + edges
        }
        let set = characterSet
        let background = backgroundColour
        return edges
            + cells.map { row in
                side + TerminalStyle.row(row, background: background, set: set) + side + TerminalStyle.reset
            } + edges
    }
}

/// The escape sequences for terminal colours (ISO 8613-6).
private enum TerminalStyle {
    static let reset = "\u{1B}[0m"

    static func background(_ colour: Colour) -> String { "\u{1B}[48;2;\(components(colour))m" }

    static func foreground(_ colour: Colour) -> String { "\u{1B}[38;2;\(components(colour))m" }

    /// A row's characters, with an escape sequence only where a colour changes.
    static func row(_ cells: [Commodore64.Cell], background: Colour, set: CommodoreCharacterSet) -> String {
        var text = ""
        var last: (Colour, Colour)?
        for cell in cells {
            let colours = cell.code.isReversed ? (background, cell.colour) : (cell.colour, background)
            if last?.0 != colours.0 { text += foreground(colours.0) }
            if last?.1 != colours.1 { text += self.background(colours.1) }
            last = colours
            let character = cell.code.character(in: set)
            text.append(character == "\u{A0}" ? " " : character)
        }
        return text
    }

    private static func components(_ colour: Colour) -> String {
        "\(colour.rgb >> 16);\(colour.rgb >> 8 & 0xFF);\(colour.rgb & 0xFF)"
    }
}
