import Elemental

/// How far a large value has come, in one line of a terminal:
/// `Firmware [##########..........]  50%  50.0 of 100.0 MB, 11.2 MB/s, 4 s left`.
struct ProgressLine {
    /// Characters of the bar, without its brackets.
    private static let barLength = 24

    let progress: TransferProgress
    /// Since the value's first part.
    let elapsed: Duration

    /// The line, cut to `columns` columns of a terminal.
    func text(columns: Int) -> String {
        let name = printable(progress.element.name)
        let full = Int(Double(Self.barLength) * progress.fraction)
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.barLength - full)
        let percentage = "\(Int(progress.fraction * 100))%"
        let amount = "\(Self.megabytes(progress.byteCount)) of \(Self.megabytes(progress.totalByteCount)) MB"
        let line =
            "\(name) [\(bar)] \(String(repeating: " ", count: max(0, 4 - percentage.count)))\(percentage)  \(amount)"
        return String((line + pace).prefix(columns: columns))
    }

    /// Bytes a second and the time that is left; nothing in the first tenth of a second, which says little.
    private var pace: String {
        let seconds = elapsed / .seconds(1)
        guard seconds > 0.1, progress.byteCount > 0 else { return "" }
        let rate = Double(progress.byteCount) / seconds
        let text = ", \(Self.megabytes(Int(rate))) MB/s"
        let left = Double(progress.totalByteCount - progress.byteCount) / rate
        return left < 1 ? text : text + ", \(Int(left.rounded(.up))) s left"
    }

    /// Millions of bytes with one decimal.
    private static func megabytes(_ count: Int) -> String {
        let tenths = count / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
