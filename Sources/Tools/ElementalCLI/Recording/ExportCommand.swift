import ArgumentParser
import Elemental
import ElementalRecording
import Support

struct ExportCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a recording's values as CSV or JSON.",
        discussion: """
            --csv prints a line for each value: time, service, instance, element, value, unit. With --wide each element \
            has a column, and each time a line with the newest values of all. The form is that of RFC 4180. --json prints \
            an object a line, as 'elemental watch --json' does, with the gaps of the recording between them. Times are in \
            UTC. Values that are not of their element's type and parts of the file that are damaged are told at the end, with \
            status 1. Cells are written as they were recorded: for a spreadsheet, which runs a text that begins with =, +, - \
            or @ as a formula, give --spreadsheet. On a terminal, characters that would move the cursor are escaped.

              $ elemental export robot.mcap --csv > robot.csv
              $ elemental export robot.mcap --csv --wide | head
              $ elemental export robot.mcap --json | \\
                  jq 'select(.element == "Speed") | .value'
            """)

    @Argument(help: ArgumentHelp("The recording.", valueName: "file"))
    var file: String

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Flag(help: "With --csv: a column for each element.")
    var wide = false

    @Flag(help: "With --csv: an apostrophe in front of texts that a spreadsheet would run as a formula.")
    var spreadsheet = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard csv != output.json else {
            throw ValidationError(csv ? "give --csv or --json, not both" : "give --csv or --json")
        }
        if wide, !csv { throw ValidationError("--wide goes with --csv") }
        if spreadsheet, !csv { throw ValidationError("--spreadsheet goes with --csv") }
    }

    private static let pieceByteCount = 64 << 10

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .counted) { [self] in
            let recording = try await Recording(path: file)
            for omission in recording.omissions { await console.talk("left out: \(omission)") }
            let form: RecordingText.Form = output.json ? .json : wide ? .wideCSV : .csv
            var text = RecordingText(recording, form, isForSpreadsheets: spreadsheet)
            var piece = text.head()
            let items = recording.items
            for try await item in items {
                piece += text.text(of: item)
                guard piece.utf8.count >= Self.pieceByteCount else { continue }
                await write(piece, console)
                piece = ""
                try Task.checkCancellation()
            }
            await write(piece + text.end(), console)
            try items.losses.check(file)
        }
    }

    private func write(_ text: String, _ console: Console) async {
        guard isatty(STDOUT_FILENO) == 1 else { return await console.emit(bytes: Array(text.utf8)) }
        // Nothing moves the cursor of a terminal.
        let lines = text.split(whereSeparator: \.isNewline).map { "\(String($0).printable)\n" }
        await console.emit(bytes: Array(lines.joined().utf8))
    }
}
