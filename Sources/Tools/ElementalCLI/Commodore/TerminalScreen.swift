import Support
import VirtualCommodore

/// Shows a Commodore's screen in this process's terminal.
final class TerminalScreen {
    private let title: String
    private let settings = TerminalSettings()
    /// The rows as the terminal shows them.
    private var shown: [String] = []
    private var size = (columns: 0, rows: 0)

    private static let columns = 40
    private static let rows = 25
    private static let border = (columns: 4, rows: 2)

    init(title: String) { self.title = title.printable }

    /// Takes over the terminal: its alternate screen, so that the previous content returns at the end, no cursor, and keys
    /// as they are pressed.
    func open() {
        settings.makeRaw()
        write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    func close() {
        write("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        settings.restore()
    }

    /// Shows the machine's screen, by writing only the rows that have changed.
    func show(_ machine: Commodore64) {
        // Frames are skipped while the terminal is behind.
        guard StandardStreams.shared.isOutputIdle else { return }
        let size = Descriptor.terminalSize(STDOUT_FILENO)
        var text = ""
        if size != self.size {
            self.size = size
            shown = []
            text = "\u{1B}[0m\u{1B}[2J"
        }
        let border = (
            columns: min(max((size.columns - Self.columns) / 2, 0), Self.border.columns),
            rows: min(max((size.rows - Self.rows) / 2, 0), Self.border.rows)
        )
        var rows = machine.ansiRows(border: border)
        if size.rows > rows.count { rows.append(title.prefix(size.columns) + "; Ctrl-C ends") }
        for (index, row) in rows.prefix(size.rows).enumerated()
        where index >= shown.count || shown[index] != row {
            text += "\u{1B}[\(index + 1);1H\(row)"
        }
        shown = rows
        if !text.isEmpty { write(text) }
    }

    private func write(_ text: String) { StandardStreams.shared.write(text.utf8) }
}
