import Elemental
import Support

/// Standard output and standard error of this process: lines and, on a terminal, a prompt and a status line that stay
/// below them.
///
/// Only the methods that say so wait for a reader. Lines are made printable here and nowhere else.
final class StandardStreams: Sendable {
    static let shared = StandardStreams()

    enum Stream: Int, Sendable {
        case output, error

        fileprivate var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }
    }

    private struct State {
        var prompt: String?
        /// What the terminal shows in its last line, below everything that is written.
        var status: String?
        var failure: CommandFailure?
        /// Lines that found no room and have not been reported yet.
        var omitted = 0
        var isDrainingLimited = false
    }

    /// The number of bytes that callers which cannot wait may queue beyond the capacity for others.
    private static let reserve = 64 * 1024
    /// After ``limitDraining()``: the maximum pause of a reader, and the maximum time for the remaining output.
    private static let patience = (still: Duration.seconds(1), total: Duration.seconds(5))
    private static let interval: Duration = .milliseconds(50)

    private let state = Locked(State())
    /// For standard output and standard error: the same queue if both are the same file, so that the order is kept.
    private let queues: [OutputQueue]
    private let isOnePlace: Bool
    private let hasStatus: Bool
    private let hasColours: [Bool]

    private init() {
        // Writing to a reader that has gone must fail with EPIPE and not raise a signal.
        signal(SIGPIPE, SIG_IGN)
        hasStatus = isatty(STDERR_FILENO) == 1
        hasColours = [STDOUT_FILENO, STDERR_FILENO].map(Styled.hasColours)
        isOnePlace = Self.areOnePlace()
        let output = OutputQueue { Self.shared.noteBroken($0, $1) }
        queues = [output, isOnePlace ? output : OutputQueue { Self.shared.noteBroken($0, $1) }]
    }

    private static func areOnePlace() -> Bool {
        if isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1 { return true }
        var output = stat()
        var error = stat()
        return fstat(STDOUT_FILENO, &output) == 0 && fstat(STDERR_FILENO, &error) == 0
            && output.st_dev == error.st_dev && output.st_ino == error.st_ino
    }

    /// Queues a line without waiting: call ``waitForRoom(in:)`` next.
    func write(_ line: [Styled], to stream: Stream) {
        let line = printable(line, in: stream)
        state.withLock { state in
            reportOmitted(&state)
            append(line, stream, state)
        }
    }

    /// Queues a line for a caller that must not wait. Without room it is counted as omitted, which is reported later.
    func offer(_ line: [Styled], to stream: Stream) {
        let line = printable(line, in: stream)
        state.withLock { state in
            guard queues[stream.rawValue].hasRoom(withReserve: Self.reserve) else { return state.omitted += 1 }
            reportOmitted(&state)
            append(line, stream, state)
        }
    }

    private func printable(_ line: [Styled], in stream: Stream) -> String {
        line.map { $0.printable(inColour: hasColours[stream.rawValue]) }.joined()
    }

    /// Counts events that the caller had to omit. The count is reported later.
    func noteOmitted(_ count: Int) { state.withLock { $0.omitted += count } }

    /// Queues bytes for standard output, unchanged, without waiting.
    func write(_ bytes: some Collection<UInt8>) { queues[Stream.output.rawValue].add(bytes, to: STDOUT_FILENO) }

    /// Waits until the queue has room for more, or the task is cancelled.
    func waitForRoom(in stream: Stream) async { await queues[stream.rawValue].waitForRoom() }

    /// Whether everything for standard output has been written.
    var isOutputIdle: Bool { queues[Stream.output.rawValue].isEmpty }

    /// - Parameter line: already printable.
    private func append(_ line: String, _ stream: Stream, _ state: State) {
        let last = isOnePlace ? state.status ?? state.prompt : state.status.flatMap { stream == .error ? $0 : nil }
        let text = last.map { Self.emptyLine + line + "\n" + $0 } ?? line + "\n"
        queues[stream.rawValue].add(text.utf8, to: stream.descriptor)
    }

    private func reportOmitted(_ state: inout State) {
        guard state.omitted > 0, queues[Stream.error.rawValue].hasRoom() else { return }
        let count = state.omitted
        state.omitted = 0
        append(
            "\(count) \(count == 1 ? "event was" : "events were") not written: the reader was too slow", .error, state)
    }

    /// Shows progress in the terminal's last line, if standard error is a terminal; `nil` removes it.
    func show(status progress: ProgressLine?) {
        guard hasStatus else { return }
        state.withLock { state in
            guard progress != nil || state.status != nil else { return }
            // The last column stays empty: in a full line the cursor would wrap.
            state.status = progress.map { $0.text(columns: Descriptor.terminalSize(STDERR_FILENO).columns - 1) }
            // A terminal that is behind gets the newest status with the next line.
            guard queues[Stream.error.rawValue].isEmpty || progress == nil else { return }
            let last = state.status ?? (isOnePlace ? state.prompt : nil) ?? ""
            queues[Stream.error.rawValue].add((Self.emptyLine + last).utf8, to: STDERR_FILENO)
        }
    }

    /// Shows a prompt, which stays below everything that is written until ``hidePrompt()``.
    func show(prompt: String) {
        state.withLock { state in
            let prompt = prompt.printable
            state.prompt = prompt
            queues[Stream.output.rawValue].add(prompt.utf8, to: STDOUT_FILENO)
        }
    }

    /// Forgets the prompt: its line has been entered.
    func hidePrompt() { state.withLock { $0.prompt = nil } }

    /// Ends the prompt's line: no more input will be read.
    func endPrompt() {
        state.withLock { state in
            if state.prompt.take() != nil { queues[Stream.output.rawValue].add("\n".utf8, to: STDOUT_FILENO) }
        }
    }

    private static let emptyLine = "\r\u{1B}[K"

    /// Why standard output cannot be written; `nil` if it can, and also if its reader has simply gone.
    var failure: CommandFailure? { state.withLock { $0.failure } }

    private func noteBroken(_ descriptor: Int32, _ code: Int32) {
        guard descriptor == STDOUT_FILENO else { return }
        if code != EPIPE {
            let reason =
                code == EBADF
                ? "is closed: the results are lost" : "cannot be written: \(String(systemError: code))"
            state.withLock { $0.failure = CommandFailure("failed", "standard output \(reason)") }
        }
        // With EBADF, standard output was closed from the beginning, so services and bridges go on.
        if code != EBADF { EndRequest.shared.noteBrokenPipe() }
    }

    /// Waits until everything has been written, however slow the readers are; after ``limitDraining()`` only as long as that
    /// allows.
    ///
    /// - Returns: whether everything has been written. Output whose reader has gone counts as written.
    @discardableResult
    func finish() async -> Bool {
        state.withLock { reportOmitted(&$0) }
        for queue in queues { await queue.waitUntilEmpty() }
        return queues.allSatisfy { $0.isEmpty && !$0.isClosed }
    }

    /// Drops output that is not read soon, because the program has to end: a reader may pause for one second and has
    /// five seconds in all.
    func limitDraining() {
        let isFirst = state.withLock { state in
            defer { state.isDrainingLimited = true }
            return !state.isDrainingLimited
        }
        guard isFirst else { return }
        for queue in isOnePlace ? [queues[0]] : queues { Task { await Self.limitDraining(queue) } }
    }

    private static func limitDraining(_ queue: OutputQueue) async {
        var moved = (progress: queue.progress, time: ContinuousClock.now)
        var wasEmpty = ContinuousClock.now
        while true {
            await Delay.wait(interval)
            let now = ContinuousClock.now
            if queue.isEmpty { wasEmpty = now }
            if queue.isEmpty || queue.progress != moved.progress { moved = (queue.progress, now) }
            if now - moved.time >= patience.still || now - wasEmpty >= patience.total { return queue.close() }
        }
    }
}
