import ArgumentParser
import Elemental
import ElementalRecording
import Support

/// Shows what a recording has.
struct InfoCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show what a recording has: services, elements, how many values, and its gaps.",
        discussion: """
            A file that its recorder did not end, because it was killed or the disk was full, is read through, and counts \
            up to its last whole value.

              $ elemental info robot.mcap
              $ elemental info robot.mcap --json | jq 'select(.event == "element")'
            """)

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
    var file: String

    @OptionGroup var output: OutputOptions

    /// The most events that are shown.
    private static let mostEvents = 1000

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .counted) { [self] in
            let recording = try await Recording(path: file)
            let events = try await recording.events(atMost: Self.mostEvents)
            await console.emit(RecordingInfo(recording: recording, events: events))
        }
    }
}

/// What a recording has.
struct RecordingInfo: ConsoleEvent {
    let recording: Recording
    let events: [RecordedItem]

    var isResult: Bool { true }

    private var start: String { Timestamp(nanoseconds: recording.start).text }

    var lines: [String] {
        let state = recording.isComplete ? "" : ", without an end"
        var lines = [
            "\(recording.path): \(recording.byteCount) bytes\(state)",
            "\(recording.valueCount) values in \(recording.duration.brief), from \(start)",
        ]
        for service in recording.services {
            let name = (service.service.map { "\($0)/" } ?? "") + service.instance
            for (number, catalogue) in service.catalogues.enumerated() {
                lines.append(name + (number > 0 ? ", later" : ""))
                let rows = zip(catalogue, service.valueCounts[number]).map { element, count in
                    [element.name, element.type.name, element.unit, "\(count)"]
                }
                let widths = (0..<4).map { column in rows.map { $0[column].columnCount }.max() ?? 0 }
                for row in rows {
                    let count = String(repeating: " ", count: widths[3] - row[3].columnCount) + row[3]
                    let texts = (0..<3).map { row[$0].padded(to: widths[$0]) }
                    lines.append("  " + texts.filter { !$0.isEmpty }.joined(separator: "  ") + "  " + count)
                }
            }
        }
        lines += gaps.map(\.line)
        lines += recording.omissions.map { "left out: \($0)" }
        if recording.damageCount > 0 {
            lines.append("\(recording.damageCount) parts of the file are damaged and were left out")
        }
        return lines
    }

    private struct Gap {
        let item: RecordedItem
        let event: RecordedEvent

        var line: String {
            let name = event.instance.map { (event.service.map { "\($0)/" } ?? "") + $0 } ?? ""
            let what =
                switch event.kind {
                case .connected: "\(name) is connected"
                case .away: "\(name) is away"
                case .refused: "\(name) is refused"
                case .lost: "\(event.count ?? 0) values are missing: they came faster than the disk took them"
                }
            return "at \(item.time.brief): \(what)" + (event.reason.map { ": \($0)" } ?? "")
        }
    }

    /// Everything but that a service was connected at the beginning.
    private var gaps: [Gap] {
        var seen: Set<String> = []
        return events.compactMap { item in
            guard case .event(let event, _) = item.content else { return nil }
            let key = "\(event.service ?? "")/\(event.instance ?? "")"
            if event.kind == .connected, seen.insert(key).inserted { return nil }
            return Gap(item: item, event: event)
        }
    }

    var json: JSONText {
        .event(
            "recording",
            [
                ("file", .string(recording.path)), ("bytes", .integer(Int(clamping: recording.byteCount))),
                ("complete", .bool(recording.isComplete)), ("start", .string(start)),
                ("seconds", .seconds(recording.duration)), ("values", .integer(recording.valueCount)),
                ("services", .integer(recording.services.count)), ("damaged", .integer(recording.damageCount)),
                ("omitted", .array(recording.omissions.map { .string($0) })),
            ])
    }

    /// The recording, its services with their elements, and what happened.
    var jsonLines: [JSONText] {
        var lines = [json]
        for service in recording.services {
            lines.append(
                .event(
                    "service",
                    JSONText.members(service.service, service.instance) + [
                        ("catalogues", .integer(service.catalogues.count))
                    ]))
            for (number, catalogue) in service.catalogues.enumerated() {
                for (element, count) in zip(catalogue, service.valueCounts[number]) {
                    lines.append(
                        .event(
                            "element",
                            JSONText.members(service.service, service.instance) + [
                                ("catalogue", .integer(number)), ("values", .integer(count)),
                            ] + element.members))
                }
            }
        }
        for item in events {
            guard case .event(let event, _) = item.content else { continue }
            lines.append(
                .event(
                    event.kind.rawValue,
                    JSONText.members(event.service, event.instance) + [
                        ("at", .seconds(item.time)), ("message", .optional(event.reason)),
                        ("count", event.count.map { .integer($0) } ?? .null),
                    ]))
        }
        return lines
    }
}
