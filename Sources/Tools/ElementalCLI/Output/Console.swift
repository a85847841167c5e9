import Elemental
import ElementalFollowing
import QRCode
import Support

/// Where a command writes: results to standard output, everything else to standard error. Each line is written at once,
/// into a pipe too.
///
/// A reader that is slower than the output suspends only the tasks that write; a reader that is gone makes the program
/// shut down cleanly.
struct Console: Sendable {
    let isJSON: Bool
    /// The service that all events are about, where a command has several; its name is in front of each line.
    private var service: ServiceKey?

    let streams = StandardStreams.shared

    init(json: Bool) { isJSON = json }

    /// Returns a console for the events of one of several services.
    func naming(_ service: ServiceKey) -> Console {
        var console = self
        console.service = service
        return console
    }

    /// Writes an event: as text, results to standard output and everything else to standard error; as JSON, all of them
    /// to standard output.
    ///
    /// The event is queued at once, in its place among the others; then this waits until the queue has room for more.
    func emit(_ event: some ConsoleEvent) async {
        put(event)
        await waitForRoom(after: event)
    }

    /// Writes events as rows of a table, to standard output; as JSON, each as it is.
    func emit(_ events: [some ConsoleEvent], as table: Table) async {
        if isJSON { for event in events { await emit(event) } }
        for line in isJSON ? [] : table.lines {
            streams.write(line, to: .output)
            await streams.waitForRoom(in: .output)
        }
    }

    /// Queues an event without waiting. For code that cannot suspend where it is, but calls ``waitForRoom(after:)`` next.
    func put(_ event: some ConsoleEvent) { forEachLine(of: event) { streams.write($0, to: $1) } }

    /// Waits until the stream of that event has room for more, or the task is cancelled.
    func waitForRoom(after event: some ConsoleEvent) async { await streams.waitForRoom(in: stream(of: event)) }

    /// Writes an event for a handler on an event loop, which cannot wait. Without room it is counted as omitted.
    func offer(_ event: some ConsoleEvent) { forEachLine(of: event) { streams.offer($0, to: $1) } }

    /// Writes a line for the user to standard error.
    func talk(_ line: String) async {
        streams.write([Styled(service.map { "\($0): \(line)" } ?? line)], to: .error)
        await streams.waitForRoom(in: .error)
    }

    /// Writes bytes of a value to standard output, unchanged.
    func emit(bytes: some RandomAccessCollection<UInt8> & Sendable) async {
        // In parts, so that a large value is not copied as a whole.
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(OutputQueue.capacity / 4)
            streams.write(part)
            await streams.waitForRoom(in: .output)
            rest = rest[part.endIndex...]
        }
    }

    /// Shows progress in the terminal's last line, if standard error is a terminal; `nil` removes it.
    func show(status progress: ProgressLine?) { if !isJSON { streams.show(status: progress) } }

    private func stream(of event: some ConsoleEvent) -> StandardStreams.Stream {
        isJSON || event.isResult ? .output : .error
    }

    private func forEachLine(of event: some ConsoleEvent, _ body: ([Styled], StandardStreams.Stream) -> Void) {
        let stream = stream(of: event)
        if isJSON {
            for object in event.jsonLines { body([Styled(named(object).text)], stream) }
        } else {
            for line in event.styledLines { body(service.map { [Styled("\($0): ")] + line } ?? line, stream) }
        }
    }

    /// The event with the service that it is about, where there are several.
    private func named(_ json: JSONText) -> JSONText {
        guard let service, case .event(let name, let members) = json else { return json }
        return .event(name, JSONText.members(service) + members.filter { $0.key != "service" && $0.key != "instance" })
    }
}

extension Console {
    /// Shows a text as a QR code; nothing if the output is JSON.
    func show(qrCode text: String) async {
        guard !isJSON, let code = QRCode(text) else { return }
        // Written as bytes, because lines are escaped, and the code needs its colours to be readable on every terminal.
        await emit(bytes: Array(code.terminalText.utf8))
    }

    /// Whether a code may be written: on a terminal, or as JSON, which a program has requested. Never to systemd's
    /// journal, which would keep it.
    func mayShowCodes(isResult: Bool) -> Bool {
        guard isJSON else { return isatty(isResult ? STDOUT_FILENO : STDERR_FILENO) == 1 }
        return !Self.isJournal(STDOUT_FILENO)
    }

    /// Whether an event goes to systemd's journal. As text, results go to standard output and others to standard error.
    func isJournal(isResult: Bool) -> Bool { Self.isJournal(isJSON || isResult ? STDOUT_FILENO : STDERR_FILENO) }

    /// Whether the descriptor leads to the journal: `JOURNAL_STREAM` names the journal's device and inode
    /// (systemd.exec(5)). Programs that write elsewhere inherit the variable, so its presence proves nothing.
    private static func isJournal(_ descriptor: Int32) -> Bool {
        guard let name = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return true }
        return String(cString: name) == "\(status.st_dev):\(status.st_ino)"
    }
}

/// Events of handlers, which cannot wait for the console: a task writes them. At most 4,096 wait; beyond this the
/// oldest are omitted and counted.
struct PendingEvents<Event: Sendable>: Sendable {
    private let console: Console
    private let continuation: AsyncStream<Event>.Continuation
    private let writing: Task<Void, Never>

    init(_ console: Console, write: @escaping @Sendable (Event) async -> Void) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(4096))
        self.console = console
        self.continuation = continuation
        writing = Task { for await event in events { await write(event) } }
    }

    func add(_ event: Event) { if case .dropped = continuation.yield(event) { console.streams.noteOmitted(1) } }

    func finish() async {
        continuation.finish()
        await writing.value
    }
}
