import Dispatch
import Foundation
import Support

/// A child process of a test, whose output is read line by line.
public final class ChildProcess: Sendable {
    /// One of the two streams a child writes to.
    public enum Stream: Int, Sendable {
        /// Standard output.
        case output
        /// Standard error.
        case error
    }

    /// How a process ended.
    public enum ExitStatus: Equatable, Sendable {
        /// It exited with this status.
        case exited(Int32)
        /// It was terminated by this signal.
        case signalled(Int32)
    }

    private struct Waiter: Sendable {
        let id: Int
        /// Checks the state, resumes the waiter if its wait is over, and returns whether it did.
        let attempt: @Sendable (inout State) -> Bool
    }

    private struct State {
        var streams = [LineBuffer(), LineBuffer()]
        var status: ExitStatus?
        var isInputOpen = true
        var waiters: [Waiter] = []
        var lastWaiter = 0

        func transcript(_ title: String) -> String {
            "--- \(title), status \(status.map { "\($0)" } ?? "running")\n"
                + "--- standard output\n" + streams[0].lines.joined(separator: "\n")
                + "\n--- standard error\n" + streams[1].lines.joined(separator: "\n") + "\n---"
        }
    }

    /// The process's id, valid until it ended.
    public let processID: Int32
    private let title: String
    private let environment: [String: String]
    private let input: Int32
    private let queue = DispatchQueue(label: "child")
    private let state = Locked(State())

    /// To write to a process that has ended is an error of the call. It would end the tests, until SwiftNIO has opened a
    /// socket in them.
    private static let ignoreBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name to look for along PATH.
    ///   - environment: added to the test's own environment, with the tests' own state directory.
    ///   - namespace: the network namespace to run in.
    public init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        namespace: String? = nil
    ) throws {
        Self.ignoreBrokenPipes
        let prefix = namespace.map { ["ip", "netns", "exec", $0] } ?? []
        let command = prefix + [executable] + arguments
        self.environment = try StateOfTests.environment(adding: environment)
        let spawn = try ProcessSpawn(
            executable: command[0], arguments: Array(command.dropFirst()), environment: self.environment)
        title = command.joined(separator: " ")
        processID = spawn.processID
        input = spawn.input
        read(spawn.output, into: .output)
        read(spawn.errorOutput, into: .error)
        // A thread of its own: it waits for as long as the child lives.
        Thread.detachNewThread { self.reap() }
    }

    deinit {
        if state.withLock({ $0.isInputOpen }) { close(input) }
    }

    /// Runs a process during the body, and ends it in every case.
    ///
    /// - Throws: what the body throws; ``TestSupportError`` if a sanitizer reported something in the process.
    public static func with<Result>(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        namespace: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let child = try ChildProcess(executable, arguments, environment: environment, namespace: namespace)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(child))
        } catch {
            result = .failure(error)
        }
        await child.end()
        if let report = Sanitizer.report(of: child.processID, environment: child.environment) {
            if case .failure(let error) = result { throw TestSupportError("\(error)\n\(report)") }
            throw TestSupportError(report)
        }
        return try result.get()
    }

    /// Runs a process to its end and returns what it wrote to standard output.
    ///
    /// - Throws: ``TestSupportError`` with its output if its status is not 0.
    @discardableResult
    public static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        namespace: String? = nil, timeout: Duration = .seconds(90)
    ) async throws -> String {
        try await with(executable, arguments, environment: environment, namespace: namespace) { child in
            child.closeInput()
            let status = try await child.waitForExit(timeout: timeout)
            guard status == .exited(0) else {
                throw TestSupportError("\(child.title) ended with \(status)\n\(child.transcript)")
            }
            return child.lines(of: .output).joined(separator: "\n")
        }
    }

    /// The next line for which the condition holds; lines before it are skipped for good.
    ///
    /// - Throws: ``TestSupportError`` with all that was printed, if the time is over or the stream ends before.
    @discardableResult
    public func nextLine(
        of stream: Stream = .output, timeout: Duration = .seconds(90), _ what: String = "the line that was waited for",
        where isWanted: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        try await wait(timeout, "\(what) did not come") { state in
            if let line = state.streams[stream.rawValue].take(where: isWanted) { return .success(line) }
            return state.streams[stream.rawValue].isAtEnd ? .failure(TestSupportError("the stream ended")) : nil
        }
    }

    /// Waits for a line on standard output, which may be a skipped one, and skips none.
    ///
    /// - Throws: as ``nextLine(of:timeout:_:where:)``.
    public func waitForLine(
        timeout: Duration = .seconds(90), _ what: String = "the line that was waited for",
        where isWanted: @escaping @Sendable (String) -> Bool
    ) async throws {
        try await wait(timeout, "\(what) did not come") { state in
            let output = state.streams[Stream.output.rawValue]
            if output.lines.contains(where: isWanted) { return .success(()) }
            return output.isAtEnd ? .failure(TestSupportError("the stream ended")) : nil
        }
    }

    /// The next line with a prefix.
    ///
    /// - Throws: as ``nextLine(of:timeout:_:where:)``.
    @discardableResult
    public func nextLine(beginningWith text: String, timeout: Duration = .seconds(90)) async throws -> String {
        try await nextLine(timeout: timeout, "a line beginning with \"\(text)\"") { $0.hasPrefix(text) }
    }

    /// Waits for the process's end.
    ///
    /// - Throws: ``TestSupportError`` with all that was printed, if the time is over before.
    @discardableResult
    public func waitForExit(timeout: Duration = .seconds(90)) async throws -> ExitStatus {
        try await wait(timeout, "it did not end") { state in
            // After all of its output. This waits for a grandchild that holds the pipe open, too.
            guard state.streams.allSatisfy(\.isAtEnd) else { return nil }
            return state.status.map { .success($0) }
        }
    }

    /// All lines so far, including skipped ones.
    public func lines(of stream: Stream) -> [String] {
        state.withLock { $0.streams[stream.rawValue].lines }
    }

    /// All that the process printed so far.
    public var transcript: String {
        state.withLock { $0.transcript(title) }
    }

    /// Whether the process is still running.
    public var isRunning: Bool { state.withLock { $0.status == nil } }

    /// Writes a line to the process's standard input.
    public func writeLine(_ line: String) throws {
        let bytes = Array((line + "\n").utf8)
        let written = state.withLock { state in
            state.isInputOpen ? bytes.withUnsafeBytes { Foundation.write(input, $0.baseAddress, $0.count) } : -1
        }
        guard written == bytes.count else {
            throw TestSupportError("cannot write to \(title)\n\(transcript)")
        }
    }

    /// Writes the last lines of standard input and closes it. A process that does not want them may have ended already: what
    /// it says of that is what counts.
    public func endInput(with lines: [String]) {
        for line in lines { try? writeLine(line) }
        closeInput()
    }

    /// Closes the process's standard input.
    public func closeInput() {
        state.withLock { state in
            if state.isInputOpen { close(input) }
            state.isInputOpen = false
        }
    }

    /// Sends a signal, unless the process has ended.
    public func send(signal: Int32) {
        // Under the lock, as is reaping: the ID cannot be reused before the process is reaped.
        state.withLock { state in
            if state.status == nil { kill(processID, signal) }
        }
    }

    /// Kills the process if it is still running, and waits for its end.
    public func end() async {
        closeInput()
        send(signal: SIGKILL)
        // A killed process ends soon; one stuck in the kernel must not hang the test.
        _ = try? await waitForExit(timeout: .seconds(20))
    }

    // MARK: - Waiting

    private func wait<Value: Sendable>(
        _ timeout: Duration, _ complaint: String,
        until check: @escaping @Sendable (inout State) -> Result<Value, any Error>?
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let id = enqueue { [title] state in
                guard let result = check(&state) else { return false }
                let transcript = state.transcript(title)
                continuation.resume(
                    with: result.mapError { TestSupportError("\(complaint): \($0)\n\(transcript)") })
                return true
            }
            guard let id else { return }
            queue.asyncAfter(deadline: .now() + timeout.seconds * Double(Sanitizer.patience)) {
                let isStillWaiting = self.state.withLock { state in
                    let count = state.waiters.count
                    state.waiters.removeAll { $0.id == id }
                    return state.waiters.count < count
                }
                if isStillWaiting {
                    let message = "\(complaint) within \(timeout * Sanitizer.patience)\n\(self.transcript)"
                    continuation.resume(throwing: TestSupportError(message))
                }
            }
        }
    }

    /// Tries at once, and keeps the failed ones for later.
    private func enqueue(_ attempt: @escaping @Sendable (inout State) -> Bool) -> Int? {
        state.withLock { state in
            guard !attempt(&state) else { return nil }
            state.lastWaiter += 1
            state.waiters.append(Waiter(id: state.lastWaiter, attempt: attempt))
            return state.lastWaiter
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let waiters = state.waiters
            var left: [Waiter] = []
            for waiter in waiters where !waiter.attempt(&state) {
                left.append(waiter)
            }
            state.waiters = left
        }
    }

    // MARK: - Reading

    /// Reads on a thread of its own. With Dispatch read sources, fewer threads would do, but libdispatch on Linux (Swift
    /// 6.3.1) crashed in `_dispatch_event_loop_drain` again and again while children ended.
    private func read(_ descriptor: Int32, into stream: Stream) {
        Thread.detachNewThread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                if count > 0 {
                    self?.change { $0.streams[stream.rawValue].append(buffer[..<count]) }
                } else if count == 0 || errno != EINTR {
                    break
                }
            }
            close(descriptor)
            self?.change { $0.streams[stream.rawValue].end() }
        }
    }

    private func reap() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
        change { state in
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            let signal = status & 0x7F
            state.status = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        }
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
