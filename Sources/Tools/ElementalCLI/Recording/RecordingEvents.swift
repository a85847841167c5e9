import Elemental
import ElementalRecording
import Support

/// A recording has ended.
struct RecordingEndEvent: ConsoleEvent {
    let summary: RecordingSummary

    var isResult: Bool { true }

    private var reason: String {
        switch summary.end {
        case .finished: "finished"
        case .limitReached: "limitReached"
        case .failed(let error): error.code.description
        }
    }

    var lines: [String] {
        let values = summary.valueCount == 1 ? "1 value" : "\(summary.valueCount) values"
        let lost = summary.lostCount == 0 ? "" : "; \(summary.lostCount) more came than could be written"
        let limit = if case .limitReached = summary.end { ", which is as large as it may be" } else { "" }
        return ["recorded \(values) in \(summary.duration.brief) to \(summary.path)\(limit)\(lost)"]
    }

    var json: JSONText {
        .event(
            "recorded",
            [
                ("file", .string(summary.path)), ("values", .integer(summary.valueCount)),
                ("lost", .integer(summary.lostCount)), ("bytes", .integer(Int(clamping: summary.byteCount))),
                ("seconds", .seconds(summary.duration)), ("reason", .string(reason)),
            ])
    }
}

extension RecordingLosses {
    /// The most names that are told.
    private static let mostTold = 20

    /// Throws if something of the file was left out, or may be wrong.
    func check(_ file: String) throws(CommandFailure) {
        var names = values.sorted { $0.key < $1.key }.prefix(Self.mostTold).map { "\($1) of '\($0.excerpt)'" }
        if values.count > Self.mostTold { names.append("some of \(values.count - Self.mostTold) more") }
        var problems: [String] = []
        if !names.isEmpty {
            problems.append("left out, not JSON or not of the element's type: \(names.joined(separator: ", "))")
        }
        if damageCount > 0 { problems.append("\(damageCount) damaged parts, whose values are missing or may be wrong") }
        guard !problems.isEmpty else { return }
        throw CommandFailure("incomplete", "\(file.excerpt): \(problems.joined(separator: "; "))")
    }
}

/// Something that is not right, and does not end the command.
struct WarningEvent: ConsoleEvent {
    let failure: CommandFailure

    var isResult: Bool { false }

    var lines: [String] { [failure.description] }

    var json: JSONText {
        .event("warning", JSONText.members(failure))
    }
}

/// A replay begins.
struct ReplayingEvent: ConsoleEvent {
    let recording: Recording
    let speed: Double

    var isResult: Bool { false }

    var lines: [String] {
        let cut = recording.isComplete ? "" : ", which has no end"
        return [
            "replaying \(recording.path)\(cut): \(recording.valueCount) values in \(recording.duration.brief)"
                + (speed == 1 ? "" : ", \(speed) times as fast")
        ] + recording.omissions.map { "left out: \($0)" }
    }

    var json: JSONText {
        .event(
            "replaying",
            [
                ("file", .string(recording.path)), ("values", .integer(recording.valueCount)),
                ("seconds", .seconds(recording.duration)), ("speed", JSONText(speed)),
                ("complete", .bool(recording.isComplete)),
                ("omitted", .array(recording.omissions.map { .string($0) })),
            ])
    }
}

/// Values of an element were not sent, or not taken, for this reason. Told once for each element and reason.
struct NotReplayedEvent: ConsoleEvent {
    let element: String
    let failure: CommandFailure

    var isResult: Bool { false }

    var lines: [String] { ["'\(element)' is not replayed: \(failure)"] }

    var json: JSONText {
        .event(
            "notReplayed", [("element", .string(element))] + JSONText.members(failure))
    }
}

/// A replay has ended.
struct ReplayEndEvent: ConsoleEvent {
    let file: String
    let counts: ReplayReport.Counts

    var isResult: Bool { true }

    var lines: [String] {
        let refused = counts.refused == 0 ? "" : "; \(counts.refused) more were not sent or not taken"
        return ["replayed \(counts.sent == 1 ? "1 value" : "\(counts.sent) values") of \(file)\(refused)"]
    }

    var json: JSONText {
        .event(
            "replayed",
            [("file", .string(file)), ("values", .integer(counts.sent)), ("refused", .integer(counts.refused))])
    }
}

/// Counts what is replayed, and tells what is not, once for each element and reason.
final class ReplayReport: Sendable {
    struct Counts {
        /// The values that were sent.
        var sent = 0
        /// The values that were not sent, or were refused.
        var refused = 0
    }

    private struct Told: Hashable {
        var element: String
        var code: String
    }

    /// Elements and reasons that are told. A service has no more elements than half of it.
    private static let mostTold = 256

    private let console: Console
    private let state = Locked((counts: Counts(), told: Set<Told>()))

    init(_ console: Console) { self.console = console }

    var counts: Counts { state.withLock { $0.counts } }

    func noteSent() { state.withLock { $0.counts.sent += 1 } }

    /// A value was not sent, or was not taken.
    ///
    /// - Parameter wasSent: whether it counts as sent so far.
    func noteRefused(_ element: String, _ failure: CommandFailure, wasSent: Bool = false) {
        let isNews = state.withLock { state in
            state.counts.refused += 1
            if wasSent { state.counts.sent = max(0, state.counts.sent - 1) }
            return state.told.count < Self.mostTold
                && state.told.insert(Told(element: element, code: failure.code)).inserted
        }
        if isNews { console.offer(NotReplayedEvent(element: element, failure: failure)) }
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
