#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Cuts a stream of bytes into lines, one when asked for it, and keeps no more than a limit of each.
///
/// It holds what came with the newest piece and the beginning of a line that has not ended.
struct LineCutter {
    typealias Line = Result<String, CommandFailure>

    /// The most bytes of a line.
    private let limit: Int
    private var piece: [UInt8] = []
    /// Where in the piece the next line begins.
    private var position = 0
    /// The beginning of a line whose end has not come.
    private var beginning: [UInt8] = []
    /// Whether the rest of the line is skipped.
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    /// Takes bytes. To be called when ``next()`` has nothing left.
    mutating func append(_ bytes: ArraySlice<UInt8>) {
        piece = Array(bytes)
        position = 0
    }

    /// The next line that is whole, without its end, or why it cannot be taken; `nil` if more bytes are needed.
    mutating func next() -> Line? {
        guard position < piece.count else { return nil }
        let end = endOfLine()
        gather(end ?? piece.count)
        position = (end ?? piece.count - 1) + 1
        return end == nil ? nil : finish()
    }

    /// The last line, at the end of the stream, if it has no end of its own.
    mutating func last() -> Line? { beginning.isEmpty && !isTooLong ? nil : finish() }

    /// Takes the piece from the position on up to `end` into the line.
    private mutating func gather(_ end: Int) {
        guard !isTooLong else { return }
        if beginning.count + end - position > limit {
            isTooLong = true
            beginning = []
        } else {
            beginning += piece[position..<end]
        }
    }

    private mutating func finish() -> Line {
        defer {
            beginning.removeAll(keepingCapacity: beginning.capacity < 65536)
            isTooLong = false
        }
        if isTooLong {
            return .failure(CommandFailure("invalidText", "a line of input is longer than \(limit) bytes"))
        }
        if beginning.last == UInt8(ascii: "\r") { beginning.removeLast() }
        guard let text = String(validating: beginning, as: UTF8.self) else {
            return .failure(CommandFailure("invalidText", "a line of input is not UTF-8 text"))
        }
        return .success(text)
    }

    private func endOfLine() -> Int? {
        piece.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress,
                let end = memchr(start + position, Int32(UInt8(ascii: "\n")), bytes.count - position)
            else { return nil }
            return UnsafeRawPointer(end) - start
        }
    }
}
