import Elemental
import ElementalRecording
import Support

extension ConsoleEvent where Self == Notice {
    static func recorded(_ summary: RecordingSummary) -> Notice {
        let lost =
            summary.lostCount == 0 ? "" : "; \(summary.lostCount) values were dropped, because the disk was too slow"
        let (reason, limit) =
            switch summary.end {
            case .finished: ("finished", "")
            case .limitReached: ("limitReached", ", which has reached the maximum size")
            case .failed(let error): (error.code.description, "")
            }
        return Notice(
            "recorded",
            [
                ("file", .string(summary.path)), ("values", .integer(summary.valueCount)),
                ("lost", .integer(summary.lostCount)), ("bytes", .integer(Int(clamping: summary.byteCount))),
                ("seconds", .seconds(summary.duration)), ("reason", .string(reason)),
            ], isResult: true,
            "recorded \(values(summary.valueCount)) in \(summary.duration.brief) to \(summary.path)\(limit)\(lost)")
    }

    static func warning(_ failure: CommandFailure) -> Notice {
        Notice("warning", JSONText.members(failure), failure.description)
    }

    static func replaying(_ recording: Recording, speed: Double) -> Notice {
        let cut = recording.isComplete ? "" : ", which is incomplete"
        let pace = speed == 1 ? "" : ", \(speed) times as fast"
        return Notice(
            "replaying",
            [
                ("file", .string(recording.path)), ("values", .integer(recording.valueCount)),
                ("seconds", .seconds(recording.duration)), ("speed", JSONText(speed)),
                ("complete", .bool(recording.isComplete)),
                ("omitted", .array(recording.omissions.map { .string($0) })),
            ],
            ["replaying \(recording.path)\(cut): \(recording.valueCount) values in \(recording.duration.brief)\(pace)"]
                + recording.omissions.map { "left out: \($0)" })
    }

    /// Values of an element were not sent, or were refused, for this reason. Reported once for each element and reason.
    static func notReplayed(_ element: String, _ failure: CommandFailure) -> Notice {
        Notice(
            "notReplayed", [("element", .string(element))] + JSONText.members(failure),
            "'\(element)' is not replayed: \(failure)")
    }

    static func replayed(_ file: String, sent: Int, refused: Int) -> Notice {
        Notice(
            "replayed", [("file", .string(file)), ("values", .integer(sent)), ("refused", .integer(refused))],
            isResult: true,
            "replayed \(values(sent)) of \(file)"
                + (refused == 0 ? "" : "; \(refused) more were not sent or were refused"))
    }

    private static func values(_ count: Int) -> String { count == 1 ? "1 value" : "\(count) values" }
}

extension RecordingLosses {
    private static let maximumReportCount = 20

    /// Throws if something of the file was left out, or may be wrong.
    func check(_ file: String) throws(CommandFailure) {
        var names = values.sorted { $0.key < $1.key }.prefix(Self.maximumReportCount).map { "\($1) of '\($0.excerpt)'" }
        if values.count > Self.maximumReportCount {
            names.append("some of \(values.count - Self.maximumReportCount) more")
        }
        var problems: [String] = []
        if !names.isEmpty {
            problems.append("left out, not JSON or not of the element's type: \(names.joined(separator: ", "))")
        }
        if damageCount > 0 { problems.append("\(damageCount) damaged parts, whose values are missing or may be wrong") }
        guard !problems.isEmpty else { return }
        throw CommandFailure("incomplete", "\(file.excerpt): \(problems.joined(separator: "; "))")
    }
}

/// Counts the replayed values, and reports those that are not replayed, once for each element and reason.
struct ReplayReport: Sendable {
    private struct State {
        /// The values that were sent, and those that were not, or were refused.
        var (sent, refused) = (0, 0)
        var told: Set<[String]> = []
    }

    /// The maximum number of reports, one for each element and reason. A service has at most half as many elements.
    private static let maximumReportCount = 256

    let console: Console
    private let state = Locked(State())

    var sent: Int { state.withLock { $0.sent } }

    func noteSent() { state.withLock { $0.sent += 1 } }

    /// Counts a value that was not sent or was refused.
    func noteRefused(_ element: String, _ failure: CommandFailure, wasSent: Bool = false) {
        let isNews = state.withLock { state in
            state.refused += 1
            if wasSent { state.sent = max(0, state.sent - 1) }
            return state.told.count < Self.maximumReportCount && state.told.insert([element, failure.code]).inserted
        }
        if isNews { console.offer(.notReplayed(element, failure)) }
    }

    func end(_ file: String) async {
        let (sent, refused) = state.withLock { ($0.sent, $0.refused) }
        await console.emit(.replayed(file, sent: sent, refused: refused))
    }
}

extension Duration {
    /// The time in seconds, or in hours, minutes and seconds.
    var brief: String {
        let milliseconds = self / .milliseconds(1)
        guard milliseconds >= 120_000 else { return "\((milliseconds / 10).rounded() / 100) s" }
        let seconds = Int(milliseconds / 1000)
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        return (hours > 0 ? "\(hours) h " : "") + "\(minutes) min \(seconds % 60) s"
    }
}
