import Support

/// Splits a stream of bytes into lines on demand, and keeps no more than a limit of each.
///
/// It holds the newest chunk and the beginning of a line that has not ended.
struct LineCutter {
    typealias Line = Result<String, CommandFailure>

    private let limit: Int
    private var chunk: [UInt8] = []
    /// Where in the chunk the next line begins.
    private var position = 0
    /// The beginning of a line whose end has not arrived.
    private var beginning: [UInt8] = []
    /// Whether no line has been returned yet: the first may begin with a byte-order mark.
    private var isFirst = true
    /// Whether the rest of the current line is skipped.
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    /// Adds a chunk. Call this only after ``next()`` has returned `nil`.
    mutating func append(_ bytes: ArraySlice<UInt8>) {
        chunk = Array(bytes)
        position = 0
    }

    /// The next complete line without its newline, or the reason why it is skipped; `nil` if more bytes are needed.
    mutating func next() -> Line? {
        guard position < chunk.count else { return nil }
        let end = endOfLine()
        gather(end ?? chunk.count)
        position = (end ?? chunk.count - 1) + 1
        return end == nil ? nil : finish()
    }

    /// Returns the last line at the end of the stream, if it has no newline.
    mutating func last() -> Line? { beginning.isEmpty && !isTooLong ? nil : finish() }

    /// Adds the chunk from the position up to `end` to the line.
    private mutating func gather(_ end: Int) {
        guard !isTooLong else { return }
        if beginning.count + end - position > limit {
            isTooLong = true
            beginning = []
        } else {
            beginning += chunk[position..<end]
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
        let line = isFirst ? beginning.firstLine : beginning.withoutLineEnd
        isFirst = false
        guard let text = String(validating: line, as: UTF8.self) else {
            return .failure(CommandFailure("invalidText", "a line of input is not UTF-8 text"))
        }
        return .success(text)
    }

    private func endOfLine() -> Int? {
        chunk.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress,
                let end = memchr(start + position, Int32(UInt8(ascii: "\n")), bytes.count - position)
            else { return nil }
            return UnsafeRawPointer(end) - start
        }
    }
}
