import Foundation
import Support

/// A child process in a pseudo-terminal of its own: the test sees its output and types its input.
public final class TerminalProcess: Sendable {
    private struct State {
        var output: [UInt8] = []
        var isAtEnd = false
        var status: ChildProcess.ExitStatus?
    }

    private let title: String
    private let processID: pid_t
    private let terminal: Int32
    private let state = Locked(State())

    /// Runs a process in a terminal of the given size during the body, and ends it in every case.
    public static func with<Result>(
        _ executable: String, _ arguments: [String], columns: UInt16 = 80, rows: UInt16 = 40,
        isolation: isolated (any Actor)? = #isolation, _ body: (TerminalProcess) async throws -> Result
    ) async throws -> Result {
        let process = try TerminalProcess(executable, arguments, columns: columns, rows: rows)
        return try await carryOut {
            try await body(process)
        } finally: {
            process.send(signal: SIGKILL)
            _ = try? await process.waitForExit()
            close(process.terminal)
        }
    }

    private init(_ executable: String, _ arguments: [String], columns: UInt16, rows: UInt16) throws {
        title = ([executable] + arguments).joined(separator: " ")
        terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // unlockpt and ptsname, which Swift does not import on Linux, are these two (TIOCSPTLCK, TIOCGPTN; ioctl_tty(2)).
        var isLocked: Int32 = 0
        var number: Int32 = 0
        guard terminal >= 0, ioctl(terminal, 0x4004_5431, &isLocked) == 0, ioctl(terminal, 0x8004_5430, &number) == 0
        else { throw TestSupportError("no pseudo-terminal: \(String(cString: strerror(errno)))") }
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
        settingsAtFirst = Self.settings(of: terminal)
        processID = try ProcessSpawn.inTerminal(
            "/dev/pts/\(number)", executable, arguments, try StateOfTests.environment())
        Thread.detachNewThread { [self] in read() }
        Thread.detachNewThread { [self] in reap() }
    }

    public var output: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }

    /// How the terminal treats keys and output: the flags and the special characters, to be compared.
    public var settings: [String] { Self.settings(of: terminal) }

    public let settingsAtFirst: [String]

    private static func settings(of terminal: Int32) -> [String] {
        var settings = termios()
        guard tcgetattr(terminal, &settings) == 0 else { return [] }
        return ["\(settings.c_iflag)", "\(settings.c_oflag)", "\(settings.c_lflag)", "\(settings.c_cc)"]
    }

    /// Types bytes, as a terminal would send them.
    public func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard bytes.withUnsafeBytes({ write(terminal, $0.baseAddress, $0.count) }) == bytes.count else {
            throw TestSupportError("cannot type to \(title)")
        }
    }

    public func send(signal: Int32) {
        state.withLock { state in
            if state.status == nil { kill(processID, signal) }
        }
    }

    /// Waits until the output contains a text; throws all output if it does not.
    public func waitFor(_ text: String, within timeout: Duration = Patience.wait) async throws {
        try await wait(timeout, "'\(text)' did not come") { output.contains(text) }
    }

    /// Waits until the process has ended and all of its output is there.
    public func waitForExit(within timeout: Duration = Patience.wait) async throws -> ChildProcess.ExitStatus {
        try await wait(timeout, "it did not end") { state.withLock { $0.status != nil && $0.isAtEnd } }
        guard let status = state.withLock({ $0.status }) else { throw TestSupportError("it did not end") }
        return status
    }

    private func wait(_ timeout: Duration, _ complaint: String, until condition: () -> Bool) async throws {
        do {
            try await eventually(complaint, within: timeout, every: .milliseconds(10)) { condition() }
        } catch {
            throw TestSupportError("\(error), from \(title):\n\(output)")
        }
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Foundation.read(terminal, &buffer, buffer.count)
            if count > 0 {
                state.withLock { $0.output += buffer[..<count] }
            } else if count == 0 || errno != EINTR {
                // EIO: the other end is closed.
                return state.withLock { $0.isAtEnd = true }
            }
        }
    }

    private func reap() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
        state.withLock { $0.status = ChildProcess.ExitStatus(waitingFor: processID) }
    }
}
