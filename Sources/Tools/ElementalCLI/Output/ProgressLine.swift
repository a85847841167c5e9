import Elemental
import Support

/// The progress of a large value on one line of a terminal:
/// `Firmware [##########..........]  50%  50.0 of 100.0 MB, 11.2 MB/s, 4 s left`.
struct ProgressLine {
    /// The length of the bar in characters, without its brackets.
    private static let barLength = 24

    let progress: TransferProgress
    /// The time since the value's first part.
    let elapsed: Duration

    func text(columns: Int) -> String {
        let name = progress.element.name.printable
        let full = Int(Double(Self.barLength) * progress.fraction)
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.barLength - full)
        let percentage = "\(Int(progress.fraction * 100))%"
        let amount = "\(Self.megabytes(progress.byteCount)) of \(Self.megabytes(progress.totalByteCount)) MB"
        let line =
            "\(name) [\(bar)] \(String(repeating: " ", count: max(0, 4 - percentage.count)))\(percentage)  \(amount)"
        return String((line + pace).prefix(columns: columns))
    }

    /// The rate and the remaining time; empty in the first tenth of a second, when the rate is not yet meaningful.
    private var pace: String {
        let seconds = elapsed / .seconds(1)
        guard seconds > 0.1, progress.byteCount > 0 else { return "" }
        let rate = Double(progress.byteCount) / seconds
        let text = ", \(Self.megabytes(Int(rate))) MB/s"
        let left = Double(progress.totalByteCount - progress.byteCount) / rate
        return left < 1 ? text : text + ", \(Int(left.rounded(.up))) s left"
    }

    private static func megabytes(_ count: Int) -> String {
        let tenths = count / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
