import Elemental

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Standard output and standard error of this process: lines, and on a terminal a prompt and a status line that stay
/// below them.
///
/// Nothing here waits for a reader but what says so. A line goes through ``printable(_:)`` here and nowhere else.
final class StandardStreams: Sendable {
    static let shared = StandardStreams()

    enum Stream: Int, Sendable {
        case output, error

        fileprivate var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }
    }

    private struct State {
        var prompt: String?
        /// What the terminal's last line shows below all that is written.
        var status: String?
        var failure: CommandFailure?
        /// Lines that found no room and have not been told of.
        var omitted = 0
        var isHurrying = false
    }

    /// Lines that cannot wait for room find this much more than those that can.
    private static let reserve = 64 * 1024
    /// How long a reader may read nothing once the program is to end, and how long the rest may take in all.
    private static let patience = (still: Duration.seconds(1), total: Duration.seconds(5))
    private static let interval: Duration = .milliseconds(50)

    private let state = Locked(State())
    /// Of standard output and of standard error: the same one where both are the same place, so that the order stays.
    private let queues: [OutputQueue]
    private let isOnePlace: Bool
    private let hasStatus: Bool

    private init() {
        // A reader that is gone is to be an error of the write, not a signal.
        signal(SIGPIPE, SIG_IGN)
        hasStatus = isatty(STDERR_FILENO) == 1
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

    // MARK: - Writing

    /// Adds a line. Does not wait: follow it with ``waitForRoom(in:)``.
    func write(_ line: String, to stream: Stream) {
        let line = printable(line)
        state.withLock { state in
            tellOmitted(&state)
            append(line, stream, state)
        }
    }

    /// Adds a line if there is room; counts it otherwise, to tell of it later.
    ///
    /// For places that must not wait, such as event loops.
    func offer(_ line: String, to stream: Stream) {
        let line = printable(line)
        state.withLock { state in
            guard queues[stream.rawValue].hasRoom(withReserve: Self.reserve) else { return state.omitted += 1 }
            tellOmitted(&state)
            append(line, stream, state)
        }
    }

    /// Tells later that events had to be left out.
    func noteOmitted(_ count: Int) { state.withLock { $0.omitted += count } }

    /// Adds bytes to standard output as they are. Does not wait.
    func write(_ bytes: some Collection<UInt8>) { queues[Stream.output.rawValue].add(bytes, to: STDOUT_FILENO) }

    /// Waits as long as too much waits to be written, or until the task is cancelled.
    func waitForRoom(in stream: Stream) async { await queues[stream.rawValue].waitForRoom() }

    /// Whether nothing waits to be written to standard output.
    var isOutputIdle: Bool { queues[Stream.output.rawValue].isEmpty }

    /// - Parameter line: printable.
    private func append(_ line: String, _ stream: Stream, _ state: State) {
        let last = isOnePlace ? state.status ?? state.prompt : state.status.flatMap { stream == .error ? $0 : nil }
        let text = last.map { Self.emptyLine + line + "\n" + $0 } ?? line + "\n"
        queues[stream.rawValue].add(text.utf8, to: stream.descriptor)
    }

    private func tellOmitted(_ state: inout State) {
        guard state.omitted > 0, queues[Stream.error.rawValue].hasRoom(withReserve: 0) else { return }
        let count = state.omitted
        state.omitted = 0
        append("\(count) \(count == 1 ? "event was" : "events were") not written: nobody read in time", .error, state)
    }

    // MARK: - The last line

    /// Shows how far something is in the terminal's last line, where standard error is a terminal; `nil` takes it away.
    func show(status progress: ProgressLine?) {
        guard hasStatus else { return }
        state.withLock { state in
            guard progress != nil || state.status != nil else { return }
            // The last column stays free: a full line would begin a new one.
            state.status = progress.map { $0.text(columns: Self.columns - 1) }
            // A terminal that is behind gets the newest one with the next line.
            guard queues[Stream.error.rawValue].isEmpty || progress == nil else { return }
            let last = state.status ?? (isOnePlace ? state.prompt : nil) ?? ""
            queues[Stream.error.rawValue].add((Self.emptyLine + last).utf8, to: STDERR_FILENO)
        }
    }

    /// Shows a prompt, which stays below what is written meanwhile, until ``hidePrompt()``.
    func show(prompt: String) {
        state.withLock { state in
            let prompt = printable(prompt)
            state.prompt = prompt
            queues[Stream.output.rawValue].add(prompt.utf8, to: STDOUT_FILENO)
        }
    }

    /// The line at the prompt has been typed.
    func hidePrompt() { state.withLock { $0.prompt = nil } }

    /// Nothing will be typed at the prompt any more.
    func endPrompt() {
        state.withLock { state in
            if state.prompt.take() != nil { queues[Stream.output.rawValue].add("\n".utf8, to: STDOUT_FILENO) }
        }
    }

    /// Makes the terminal's line empty.
    private static let emptyLine = "\r\u{1B}[K"

    /// Characters in a line of the terminal at standard error.
    private static var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    // MARK: - The end

    /// Why standard output cannot be written; `nil` also if its reader is just gone.
    var failure: CommandFailure? { state.withLock { $0.failure } }

    private func noteBroken(_ descriptor: Int32, _ code: Int32) {
        guard descriptor == STDOUT_FILENO else { return }
        if code != EPIPE {
            let reason = String(cString: strerror(code))
            state.withLock { $0.failure = CommandFailure("failed", "standard output cannot be written: \(reason)") }
        }
        EndRequest.shared.noteBrokenPipe()
    }

    /// Waits until all that was written has been read, however long its readers take; not longer than ``hurry()`` allows
    /// once that has been called.
    ///
    /// - Returns: whether all of it has been written; what found no reader any more counts as if it were.
    @discardableResult
    func finish() async -> Bool {
        state.withLock { tellOmitted(&$0) }
        for queue in queues { await queue.waitUntilEmpty() }
        return queues.allSatisfy { $0.isEmpty && !$0.isClosed }
    }

    /// The program is to end: output that is not read soon is dropped.
    ///
    /// A reader may pause for a second, and has five in all.
    func hurry() {
        let isFirst = state.withLock { state in
            defer { state.isHurrying = true }
            return !state.isHurrying
        }
        guard isFirst else { return }
        for queue in isOnePlace ? [queues[0]] : queues { Task { await Self.hurry(queue) } }
    }

    private static func hurry(_ queue: OutputQueue) async {
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
