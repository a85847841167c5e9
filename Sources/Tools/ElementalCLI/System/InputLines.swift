import Dispatch
import Elemental
import Support

/// The lines of standard input, read on demand on a thread that may block.
///
/// At most 64 KiB are read ahead, so that a fast writer waits for a slow reader.
final class InputLines: Sendable {
    /// A line without its newline, or the reason why it is skipped: it is too long or not text. The next line is not
    /// affected.
    typealias Line = LineCutter.Line

    /// The maximum length of a line in bytes. It is more than the longest value with its element's name.
    private static let longestValue = 130 * 1024 * 1024
    /// The maximum length in bytes of a line for a Commodore or its modem, which accept 255 at a time.
    static let longestCommand = 65536

    private struct State {
        var lines: LineCutter
        var isAtEnd = false

        /// The next line that has been read; at the end of the input also one without a newline.
        mutating func next() -> Line? { lines.next() ?? (isAtEnd ? lines.last() : nil) }
    }

    private let state: Locked<State>
    private let queue = DispatchQueue(label: "elemental.input")

    /// - Parameter limit: the maximum length of a line in bytes. A longer one is skipped without being kept.
    init(limit: Int = longestValue) {
        state = Locked(State(lines: LineCutter(limit: limit)))
    }

    /// Waits for the next line; `nil` at the end of the input. Only one task may wait at a time. A cancelled wait
    /// returns `nil`, and must be the last one.
    func next() async -> Line? {
        if Task.isCancelled { return nil }
        let (line, isAtEnd) = state.withLock { ($0.next(), $0.isAtEnd) }
        if line != nil || isAtEnd { return line }
        let next = Outcome<Line?>()
        queue.async { next.resolve(self.read()) }
        return await next.value() ?? nil
    }

    private func read() -> Line? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = buffer.withUnsafeMutableBytes { Self.read($0) }
            let (line, isAtEnd) = state.withLock { state in
                if count > 0 { state.lines.append(buffer[..<count]) } else { state.isAtEnd = true }
                return (state.next(), state.isAtEnd)
            }
            if line != nil || isAtEnd { return line }
        }
    }

    /// - Returns: how many bytes were read; 0 at the end or on an error.
    private static func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = Descriptor.read(STDIN_FILENO, buffer)
            if count >= 0 { return count }
            if errno == EAGAIN {
                _ = Poll.one(STDIN_FILENO, for: POLLIN, timeout: -1)
            } else if errno != EINTR {
                return 0
            }
        }
    }
}
