/// A table of text; its first column is aligned to the left, the others to the right.
struct Table {
    var title: String
    var note: String
    var header: [String]
    /// An empty row is an empty line.
    var rows: [[String]] = []

    private static let lineLength = 110

    var text: String {
        let widths = header.indices.map { column in
            ([header] + rows.filter { !$0.isEmpty }).map { $0[column].count }.max() ?? 0
        }
        let lines = ([header] + rows).map { row in
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ").trimmingEnd
        }
        return ([title] + Self.wrapped(note).map { "  " + $0 } + [""] + lines.map { "  " + $0 })
            .map(\.trimmingEnd).joined(separator: "\n")
    }

    private static func wrapped(_ text: String) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].count + word.count >= lineLength { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines
    }
}

extension String {
    /// Without trailing spaces.
    fileprivate var trimmingEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
