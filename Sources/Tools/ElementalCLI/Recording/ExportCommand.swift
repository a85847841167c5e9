import ArgumentParser
import Elemental
import ElementalRecording
import Support

struct ExportCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print a recording's values, or those that services keep, as CSV or JSON.",
        usage: "elemental export FILE|TARGET... --csv|--json [--wide] [--spreadsheet] [--only NAME...] [--since TIME]",
        discussion: """
            An argument is a recording if a file of that name is there, or if it ends in '.mcap' or begins with '/' or '.'; \
            otherwise it is a TARGET. Of TARGETs it prints the values that they keep now (publish: 'history 24h'), in the \
            order in which they were measured, and ends. Gaps are reported: with --json as 'gap', with --csv on standard \
            error. A service may keep no values of some elements; these are left out.

            --csv prints a line for each value: time, service, instance, element, value, unit. With --wide each element \
            has a column, and each time a line with the newest values of all. The form is that of RFC 4180. --json prints \
            an object a line, as 'elemental watch --json' does, with the gaps of the recording between them. Times are in \
            UTC. Values that are not of their element's type and damaged parts of the file are reported at the end, with \
            status 1. Cells are written as they were recorded: for a spreadsheet, which runs a text that begins with =, +, - \
            or @ as a formula, give --spreadsheet. On a terminal, characters that would move the cursor are escaped.

              $ elemental export robot.mcap --csv > robot.csv
              $ elemental export robot.mcap --csv --wide | head
              $ elemental export robot.mcap --json | \\
                  jq 'select(.element == "Speed") | .value'
              $ elemental export weather --since 2h --csv > weather.csv
            """)

    @Argument(
        help: ArgumentHelp(
            "A recording; or SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.",
            discussion: "SERVICE alone is enough if the network has only one.", valueName: "file-or-target"))
    var words: [String]

    @Flag(help: "Print comma-separated values.")
    var csv = false

    @Flag(help: "With --csv: a column for each element.")
    var wide = false

    @Flag(help: "With --csv: an apostrophe in front of texts that a spreadsheet would run as a formula.")
    var spreadsheet = false

    @Option(help: ArgumentHelp("Print only the element of that name; may be given several times.", valueName: "name"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "For TARGETs: begin with the values of that time, such as 90s, 10m, 2h or 1d.", valueName: "time"))
    var since: TimeSpan?

    @Option(help: ArgumentHelp("For TARGETs: the name of this client (default: elemental@HOST).", valueName: "name"))
    var name: String?

    @OptionGroup var security: ClientSecurityOptions
    @OptionGroup var limits: LimitOptions
    @OptionGroup var output: OutputOptions

    /// The recording, or the services whose values are exported.
    enum Subject: Equatable {
        case file(String)
        case targets([Target])

        /// All are connected at the same time.
        private static let maximumTargetCount = 16

        init(_ words: [String]) throws {
            if let file = words.first(where: Self.isFile) {
                guard words.count == 1 else { throw ValidationError("give one recording, or TARGETs") }
                self = .file(file)
            } else {
                guard words.count <= Self.maximumTargetCount else {
                    throw ValidationError("at most \(Self.maximumTargetCount) TARGETs can be exported")
                }
                self = .targets(try checked("TARGET: ") { try words.map(Target.init(parsing:)) })
            }
        }

        private static func isFile(_ word: String) -> Bool {
            if word.hasSuffix(".mcap") || word.hasPrefix("/") || word.hasPrefix(".") { return true }
            var status = stat()
            return stat(word, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
        }
    }

    func validate() throws {
        guard csv != output.json else {
            throw ValidationError(csv ? "give --csv or --json, not both" : "give --csv or --json")
        }
        if wide, !csv { throw ValidationError("--wide needs --csv") }
        if spreadsheet, !csv { throw ValidationError("--spreadsheet needs --csv") }
        try ClientName.check(name)
        if case .file(let file) = try Subject(words), since != nil {
            throw ValidationError(
                "--since is for TARGETs, and '\(file.excerpt)' is a file; for a service of that name give HOST:PORT")
        }
    }

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, .counted) { [self] in
            switch try Subject(words) {
            case .file(let file): try await export(file, console)
            case .targets(let targets): try await withClients(targets[...], console) { try await export($0, console) }
            }
        }
    }

    private func text(_ services: [RecordedService], begunAt start: UInt64) -> RecordingText {
        let form: RecordingText.Form = output.json ? .json : wide ? .wideCSV : .csv
        return RecordingText(services, begunAt: start, form, isForSpreadsheets: spreadsheet, only: only)
    }

    private func export(_ file: String, _ console: Console) async throws {
        let recording = try await Recording(path: file)
        for omission in recording.omissions { await console.talk("left out: \(omission)") }
        let catalogues = recording.services.flatMap(\.catalogues)
        if let missing = only.first(where: { name in !catalogues.contains { $0[name] != nil } }) {
            throw CommandFailure.unknownName(
                missing, "element", among: catalogues.flatMap { $0.map(\.name) }, where: file.excerpt)
        }
        var printed = ExportedText(text(recording.services, begunAt: recording.start), console)
        let items = recording.items
        for try await item in items { try await printed.add(item) }
        await printed.end()
        try items.losses.check(file)
    }

    /// Connects to all targets at the same time.
    private func withClients(
        _ targets: ArraySlice<Target>, after clients: [Client] = [], _ console: Console,
        _ body: @escaping ([Client]) async throws -> Void
    ) async throws {
        guard let target = targets.first else { return try await body(clients) }
        var settings = Client.Settings(name: name ?? ClientName.standard)
        settings.access = try await security.load()
        settings.limits = limits.device
        settings.showsIncoming = false
        let place = try await ServicePlace.find(
            target.followingAlias(for: settings.access), for: settings.access, output)
        try await Client.with(place, settings, output, console) { client in
            try await withClients(targets.dropFirst(), after: clients + [client], console, body)
        }
    }

    /// Prints the values that the services keep now.
    private func export(_ clients: [Client], _ console: Console) async throws {
        let since = since.map {
            MeasurementTime(microseconds: MeasurementTime.now.microseconds - $0.duration.nanoseconds / 1000)
        }
        var histories = MergedHistories()
        var services: [RecordedService] = []
        for (number, client) in clients.enumerated() {
            let kept = try keptElements(of: client)
            services.append(RecordedService(client.device.key, try ElementCatalogue(kept)))
            // The ping compares the clocks. From then on values have their times.
            if client.device.clock == nil { _ = try? await client.device.ping(timeout: output.limit) }
            for element in kept {
                let history = client.device.anyHistory(
                    of: element, from: since.map { .time($0) } ?? .oldest, follows: false)
                histories.add(history, element, of: client.device, number)
            }
        }
        var printed = ExportedText(text(services, begunAt: 0), console)
        do {
            while let item = try await histories.next() {
                switch item {
                case .value(let value): try await printed.add(value)
                case .gap(let place, let element, let gap):
                    await printed.write()
                    let notice: Notice = .gap(clients[place].device.key, element, gap)
                    if output.json {
                        await console.emit(notice)
                    } else {
                        for line in notice.lines { await console.talk("\(clients[place].device.key): \(line)") }
                    }
                }
            }
        } catch let error as ElementalError {
            await printed.end()
            for client in clients {
                if let reason = client.device.disconnectReason { throw Client.ended(client.device, reason) }
            }
            throw error
        }
        await printed.end()
    }

    private func keptElements(of client: Client) throws -> [ElementDefinition] {
        let wanted = try client.readable(only)
        let kept = wanted.filter { $0.history != nil }
        guard let missing = only.isEmpty ? nil : wanted.first(where: { $0.history == nil }) else {
            guard kept.isEmpty else { return kept }
            throw CommandFailure(
                "notAllowed",
                "\(client.device.name) keeps no values; publish its elements with ':history 24h', or record it: elemental "
                    + "record \(client.place.target.shellArgument) --to FILE.mcap")
        }
        throw CommandFailure(
            "notAllowed",
            "\(client.device.name) keeps no values of '\(missing.name)'; publish the element with ':history 24h'")
    }
}

/// The text of items, written in pieces.
private struct ExportedText {
    private static let pieceByteCount = 64 << 10

    private var text: RecordingText
    private var piece: String
    private let console: Console

    init(_ text: RecordingText, _ console: Console) {
        self.text = text
        self.console = console
        piece = self.text.head()
    }

    mutating func add(_ item: RecordedItem) async throws {
        piece += text.text(of: item)
        guard piece.utf8.count >= Self.pieceByteCount else { return }
        await write()
        try Task.checkCancellation()
    }

    mutating func end() async {
        piece += text.end()
        await write()
    }

    /// Writes the text so far.
    mutating func write() async {
        defer { piece = "" }
        guard isatty(STDOUT_FILENO) == 1 else { return await console.emit(bytes: Array(piece.utf8)) }
        // On a terminal, characters that would move the cursor are escaped.
        let lines = piece.split(whereSeparator: \.isNewline).map { "\(String($0).printable)\n" }
        await console.emit(bytes: Array(lines.joined().utf8))
    }
}
