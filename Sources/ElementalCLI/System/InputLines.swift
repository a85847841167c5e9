import Dispatch
import Elemental

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The lines of standard input, read as they are asked for on a thread that may block.
///
/// Nothing is read ahead but what comes with a line, so that a fast writer waits for a slow reader.
final class InputLines: Sendable {
    /// Longer than the longest value in hexadecimal digits.
    private static let maximumByteCount = 130 * 1024 * 1024

    fileprivate struct State {
        var lines: [String] = []
        var rest: [UInt8] = []
        var isAtEnd = false
        var isTooLong = false
        var isReading = false
        var waiting: CheckedContinuation<String?, Never>?
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "elemental.input")

    /// The next line without its end; `nil` at the end of input or when the task is cancelled. One task may wait.
    ///
    /// - Throws: ``CommandFailure`` if a line does not end.
    func next() async throws -> String? {
        let line = await nextLine()
        if line == nil, state.withLock({ $0.isTooLong }) {
            throw CommandFailure("invalidText", "a line of input is longer than \(Self.maximumByteCount) bytes")
        }
        return line
    }

    private func nextLine() async -> String? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var mustRead = false
                let answer: String?? = state.withLock { state in
                    if !state.lines.isEmpty { return .some(state.lines.removeFirst()) }
                    if state.isAtEnd || Task.isCancelled { return .some(nil) }
                    state.waiting = continuation
                    mustRead = !state.isReading
                    state.isReading = true
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
                if mustRead { queue.async { self.read() } }
            }
        } onCancel: {
            state.withLock { $0.waiting.take() }?.resume(returning: nil)
        }
    }

    /// Reads until there is at least one line or the end.
    private func read() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = buffer.withUnsafeMutableBytes { Self.read($0) }
            let answer: (CheckedContinuation<String?, Never>, String?)?? = state.withLock { state in
                if count > 0 { state.take(buffer[..<count]) } else { state.takeEnd() }
                if state.rest.count > Self.maximumByteCount {
                    state.rest = []
                    state.isTooLong = true
                    state.isAtEnd = true
                }
                guard !state.lines.isEmpty || state.isAtEnd else { return nil }
                state.isReading = false
                guard let waiting = state.waiting.take() else { return .some(nil) }
                return (waiting, state.lines.isEmpty ? nil : state.lines.removeFirst())
            }
            guard let answer else { continue }
            if let (continuation, line) = answer { continuation.resume(returning: line) }
            return
        }
    }

    /// - Returns: how many bytes came, 0 at the end or on an error.
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

extension InputLines.State {
    /// Takes bytes and makes lines of them.
    fileprivate mutating func take(_ bytes: ArraySlice<UInt8>) {
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            rest += bytes[start..<end]
            finishLine()
            start = end + 1
        }
        rest += bytes[start...]
    }

    /// The end of input ends the last line too.
    fileprivate mutating func takeEnd() {
        if !rest.isEmpty { finishLine() }
        isAtEnd = true
    }

    private mutating func finishLine() {
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        lines.append(String(decoding: rest, as: UTF8.self))
        rest.removeAll(keepingCapacity: true)
    }
}
