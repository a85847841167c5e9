import Dispatch
import Foundation
import Support

/// A child process of a test, whose output is read line by line.
public final class ChildProcess: Sendable {
    public enum Stream: Int, Sendable {
        case output
        case error
    }

    public enum ExitStatus: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)

        /// Waits on the calling thread until a child has ended, and reaps it.
        init(waitingFor processID: pid_t) {
            var code: Int32 = 0
            while waitpid(processID, &code, 0) == -1 && errno == EINTR {}
            let signal = code & 0x7F
            self = signal == 0 ? .exited((code >> 8) & 0xFF) : .signalled(signal)
        }
    }

    public let processID: Int32
    private let title: String
    private let environment: [String: String]
    /// The pipe to its standard input, until that is closed. Its lock is held during a write, which waits while the pipe is
    /// full: nothing that reads the process's output needs it.
    private let input: Locked<Int32?>
    private let streams = [Transcript<String>(), Transcript<String>()]
    /// Nil while it runs. Under this lock the process is reaped: its id cannot be reused before.
    private let status = Locked<ExitStatus?>(nil)
    /// Its status, once all of its output was read too.
    private let exit = Transcript<ExitStatus>()

    /// - Parameters:
    ///   - executable: a path, or a name to look for along PATH.
    ///   - environment: added to the test's own environment, with the tests' own state directory.
    ///   - namespace: the network namespace to run in.
    public init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        namespace: String? = nil
    ) throws {
        let prefix = namespace.map { ["ip", "netns", "exec", $0] } ?? []
        let command = prefix + [executable] + arguments
        self.environment = try StateOfTests.environment(adding: environment)
        let spawn = try ProcessSpawn(
            executable: command[0], arguments: Array(command.dropFirst()), environment: self.environment)
        title = command.joined(separator: " ")
        processID = spawn.processID
        input = Locked(spawn.input)
        let (streams, exit) = (streams, exit)
        let readers = DispatchGroup()
        for (descriptor, stream) in zip([spawn.output, spawn.errorOutput], streams) {
            readers.enter()
            Thread.detachNewThread {
                Self.read(descriptor, into: stream)
                readers.leave()
            }
        }
        // A thread of its own: it waits for as long as the child lives, and for a grandchild that holds a pipe open.
        Thread.detachNewThread { [self] in
            let status = reap()
            readers.wait()
            exit.add(status)
        }
    }

    deinit { closeInput() }

    /// Runs a process during the body, and ends it in every case. Throws also what a sanitizer reported in the process.
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

    /// Runs a process to its end and returns what it wrote to standard output; throws all of its output if it fails.
    @discardableResult
    public static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        namespace: String? = nil, within timeout: Duration = Patience.wait
    ) async throws -> String {
        try await with(executable, arguments, environment: environment, namespace: namespace) { child in
            child.closeInput()
            let status = try await child.waitForExit(within: timeout)
            guard status == .exited(0) else {
                throw TestSupportError("\(child.title) ended with \(status)\n\(child.transcript)")
            }
            return child.lines(of: .output).joined(separator: "\n")
        }
    }

    public struct OutputLine: Sendable, CustomStringConvertible {
        public let text: String
        public let place: TranscriptPlace

        public var description: String { text }
    }

    /// Takes the first line that matches out of those that no wait has taken, or waits for one, as `Transcript.next` does.
    /// Throws all that was printed, if the time is over or the stream ends before.
    @discardableResult
    public func nextLine(
        of stream: Stream = .output, after place: TranscriptPlace? = nil, within timeout: Duration = Patience.wait,
        _ what: String = "the line", fileID: String = #fileID, line: Int = #line,
        where isWanted: @escaping @Sendable (String) -> Bool
    ) async throws -> OutputLine {
        do {
            let found = try await streams[stream.rawValue].find(after: place, within: timeout, where: isWanted)
            return OutputLine(text: found.entry, place: found.place)
        } catch {
            throw TestSupportError("\(fileID):\(line): \(what) \(error.description)\n\(transcript)")
        }
    }

    /// Takes the first line with a prefix, as ``nextLine(of:after:within:_:fileID:line:where:)`` does.
    @discardableResult
    public func nextLine(
        beginningWith text: String, of stream: Stream = .output, after place: TranscriptPlace? = nil,
        within timeout: Duration = Patience.wait, fileID: String = #fileID, line: Int = #line
    ) async throws -> OutputLine {
        try await nextLine(
            of: stream, after: place, within: timeout, "a line beginning with \"\(text)\"", fileID: fileID, line: line
        ) { $0.hasPrefix(text) }
    }

    /// Waits for the process's end, and for that of its output.
    @discardableResult
    public func waitForExit(
        within timeout: Duration = Patience.wait, fileID: String = #fileID, line: Int = #line
    ) async throws -> ExitStatus {
        do {
            return try await exit.find(after: nil, within: timeout, takes: false) { _ in true }.entry
        } catch {
            throw TestSupportError("\(fileID):\(line): the end \(error.description)\n\(transcript)")
        }
    }

    /// All lines so far, those that were taken included.
    public func lines(of stream: Stream) -> [String] { streams[stream.rawValue].all }

    public func place(in stream: Stream = .output) -> TranscriptPlace { streams[stream.rawValue].place }

    /// All that the process printed so far, with times in seconds.
    public var transcript: String {
        let lines = zip(["out", "err"], streams).flatMap { name, stream in
            stream.lines.map { (time: $0.time, text: "\(name)| \($0.text)") }
        }
        let status = status.withLock { $0 }.map { "\($0)" } ?? "running"
        return "--- \(title), \(status)\n\(TranscriptPlace.text(lines.sorted { $0.time < $1.time }))\n---"
    }

    public var isRunning: Bool { status.withLock { $0 == nil } }

    /// Writes a line to the process's standard input. Waits while the pipe is full.
    public func writeLine(_ line: String) throws {
        var bytes = Array((line + "\n").utf8)[...]
        let isWritten = input.withLock { input in
            guard let input else { return false }
            while !bytes.isEmpty {
                let count = bytes.withUnsafeBytes { Foundation.write(input, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                bytes.removeFirst(count)
            }
            return true
        }
        guard isWritten else { throw TestSupportError("cannot write to its standard input\n\(transcript)") }
    }

    /// Writes the last lines of standard input and closes it. A process that does not want them may have ended already: what
    /// it says of that is what counts.
    public func endInput(with lines: [String]) {
        for line in lines { try? writeLine(line) }
        closeInput()
    }

    public func closeInput() {
        input.withLock { input in
            if let input { close(input) }
            input = nil
        }
    }

    /// Sends a signal, unless the process has ended.
    public func send(signal: Int32) {
        status.withLock { status in
            if status == nil { kill(processID, signal) }
        }
    }

    /// Kills the process if it is still running, and waits for its end.
    public func end() async {
        // Before its input is closed: a write that waits for a full pipe ends with the process.
        send(signal: SIGKILL)
        closeInput()
        // A killed process ends soon; one stuck in the kernel must not hang the test.
        _ = try? await waitForExit(within: .seconds(20))
    }

    // MARK: - Reading

    /// Reads on a thread of its own. With Dispatch read sources, fewer threads would do, but libdispatch on Linux (Swift
    /// 6.3.1) crashed in `_dispatch_event_loop_drain` again and again while children ended.
    private static func read(_ descriptor: Int32, into stream: Transcript<String>) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var rest: [UInt8] = []
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                var start = 0
                while let end = Self.newline(in: buffer, start..<count) {
                    stream.add(String(decoding: rest + buffer[start..<end], as: UTF8.self))
                    rest = []
                    start = end + 1
                }
                rest += buffer[start..<count]
            } else if count == 0 || errno != EINTR {
                break
            }
        }
        close(descriptor)
        if !rest.isEmpty { stream.add(String(decoding: rest, as: UTF8.self)) }
        stream.end()
    }

    /// The first newline in a part of a buffer. memchr, because a process may write megabytes.
    private static func newline(in buffer: [UInt8], _ range: Range<Int>) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + range.lowerBound, 0x0A, range.count) else {
                return nil
            }
            return UnsafeRawPointer(found) - base
        }
    }

    private func reap() -> ExitStatus {
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
        return status.withLock { status in
            let ended = ExitStatus(waitingFor: processID)
            status = ended
            return ended
        }
    }
}
