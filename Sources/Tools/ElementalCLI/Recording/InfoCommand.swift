import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalRecording
import Support

struct InfoCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show a recording's services, elements, number of values and gaps.",
        discussion: """
            A file that its recorder did not end, because it was killed or the disk was full, is read through, and counts \
            up to its last whole value.

              $ elemental info robot.mcap
              $ elemental info robot.mcap --json | jq 'select(.event == "element")'
            """)

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
    var file: String

    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .counted) { [self] in
            let recording = try await Recording(path: file)
            let events = try await recording.events(atMost: 1000)
            await console.emit(RecordingInfo(recording: recording, events: events))
        }
    }
}

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
            for (number, catalogue) in service.catalogues.enumerated() {
                lines.append("\(service.key)" + (number > 0 ? ", later" : ""))
                let rows = zip(catalogue, service.valueCounts[number]).map { element, count in
                    [element.name, element.type.name, element.unit, "\(count)"].map { Styled($0) }
                }
                let table = Table(titles: ["", "", "", ">"], rows: rows, indentation: "  ")
                lines += table.lines.dropFirst().map { $0.map(\.text).joined() }
            }
        }
        var seen: Set<String> = []
        for case (let time, .event(let event, _)) in events.lazy.map({ ($0.time, $0.content) }) {
            let name = event.instance.map { "\(ServiceKey(service: event.service, name: $0))" } ?? ""
            let what: String
            switch event.kind {
            // The first connection of a service is not a gap.
            case .connected where seen.insert(name).inserted: continue
            case .connected: what = "\(name) is connected"
            case .away: what = "\(name) is away"
            case .refused: what = "\(name) is refused"
            case .lost where event.instance != nil:
                what = "\(name): \(event.count.map { "\($0) " } ?? "")values are missing"
            case .lost: what = "\(event.count ?? 0) values are missing: the disk was too slow"
            }
            lines.append("at \(time.brief): \(what)" + (event.reason.map { ": \($0)" } ?? ""))
        }
        lines += recording.omissions.map { "left out: \($0)" }
        if recording.damageCount > 0 {
            lines.append("\(recording.damageCount) parts of the file are damaged and were left out")
        }
        return lines
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

    var jsonLines: [JSONText] {
        var lines = [json]
        for service in recording.services {
            let key = JSONText.members(service.key)
            lines.append(.event("service", key + [("catalogues", .integer(service.catalogues.count))]))
            for (number, catalogue) in service.catalogues.enumerated() {
                lines += zip(catalogue, service.valueCounts[number]).map { element, count in
                    .event(
                        "element",
                        key + [("catalogue", .integer(number)), ("values", .integer(count))] + element.members)
                }
            }
        }
        for case (let time, .event(let event, _)) in events.lazy.map({ ($0.time, $0.content) }) {
            lines.append(
                .event(
                    event.kind.rawValue,
                    JSONText.members(event.service, event.instance) + [
                        ("at", .seconds(time)), ("message", .optional(event.reason)), ("count", .optional(event.count)),
                    ]))
        }
        return lines
    }
}
