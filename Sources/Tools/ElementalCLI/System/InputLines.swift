import Dispatch
import Elemental
import Support

/// The lines of standard input, read on demand on a thread that may block.
///
/// At most 64 KiB are read ahead, so that a fast writer waits for a slow reader.
final class InputLines: Sendable {
    /// A line without its newline, or why it is skipped: it is too long or not text. The next one is not affected.
    typealias Line = LineCutter.Line

    /// More than the longest value with its element's name.
    private static let longestValue = 130 * 1024 * 1024
    /// The most bytes of a line for a Commodore or its modem, which accept 255 at a time.
    static let longestCommand = 65536

    private struct State {
        var lines: LineCutter
        /// A line that was read but has not been returned.
        var newest: Line?
        var isAtEnd = false
        var isReading = false
        var waiting: Outcome<Line?>?

        /// The next line that has been read; at the end of the input also one without a newline.
        mutating func next() -> Line? { newest.take() ?? lines.next() ?? (isAtEnd ? lines.last() : nil) }
    }

    private let state: Locked<State>
    private let queue = DispatchQueue(label: "elemental.input")

    /// - Parameter limit: the most bytes of a line. A longer one is skipped without being kept.
    init(limit: Int = longestValue) {
        state = Locked(State(lines: LineCutter(limit: limit)))
    }

    /// The next line; `nil` at the end of the input or when the task is cancelled. Only one task may wait at a time.
    func next() async -> Line? {
        let next = Outcome<Line?>()
        let mustRead = state.withLock { state in
            if Task.isCancelled { return false }
            // While the thread reads, no line is stored: it stops at the first one.
            if let line = state.next() {
                next.resolve(line)
            } else if state.isAtEnd {
                next.resolve(nil)
            } else {
                state.waiting = next
                defer { state.isReading = true }
                return !state.isReading
            }
            return false
        }
        if mustRead { queue.async { self.read() } }
        return await next.value() ?? nil
    }

    /// Reads until there is a line or the end.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = buffer.withUnsafeMutableBytes { Self.read($0) }
            let isDone = state.withLock { state in
                if count > 0 { state.lines.append(buffer[..<count]) } else { state.isAtEnd = true }
                state.newest = state.next()
                guard state.newest != nil || state.isAtEnd else { return false }
                state.isReading = false
                // If the waiting task was cancelled meanwhile, the line is kept for the next call.
                if state.waiting.take()?.resolve(state.newest) == true { state.newest = nil }
                return true
            }
            if isDone { return }
        }
    }

    /// - Returns: how many bytes were read; 0 at the end or on an error.
    private static func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = Descriptor.read(STDIN_FILENO, buffer)
            if count >= 0 { return count }
            if errno == EAGAIN {
                var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                _ = poll(&entry, 1, -1)
            } else if errno != EINTR {
                return 0
            }
        }
    }
}
