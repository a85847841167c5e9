import Support

/// Cuts the standard error of a command into lines to show, up to ``maximumByteCount`` bytes a minute.
struct CommandErrors {
    /// The maximum length of a line in bytes. The rest is left out.
    static let maximumLineLength = 1024
    /// The maximum number of bytes that are shown in a minute.
    static let maximumByteCount = 4096
    /// The bytes that each line counts in addition to its text.
    private static let lineCost = 32
    private static let period = Duration.seconds(60)

    /// The beginning of a line whose end has not arrived.
    private var line: [UInt8] = []
    private var start: ContinuousClock.Instant?
    /// The numbers of bytes that were shown and left out since `start`.
    private var shownCount = 0
    private var omittedCount = 0

    /// Takes the next piece, and returns the lines to show now.
    mutating func take(_ bytes: UnsafeRawBufferPointer, at now: ContinuousClock.Instant) -> [String] {
        var lines: [String] = []
        if let start, now - start >= Self.period {
            lines += takeOmitted()
            self.start = nil
        }
        if start == nil {
            start = now
            shownCount = 0
        }
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                lines += takeLine()
            } else if line.count < Self.maximumLineLength, shownCount + line.count < Self.maximumByteCount {
                line.append(byte)
            } else {
                omittedCount += 1
            }
        }
        return lines
    }

    /// Returns the lines that are left to show when the command has ended.
    mutating func finish() -> [String] { takeLine() + takeOmitted() }

    private mutating func takeLine() -> [String] {
        defer { line = [] }
        let text = String(decoding: line.withoutLineEnd, as: UTF8.self)
        guard !text.isEmpty else { return [] }
        shownCount += line.count + Self.lineCost
        return [text]
    }

    private mutating func takeOmitted() -> [String] {
        defer { omittedCount = 0 }
        return omittedCount > 0 ? ["(and \(omittedCount) bytes more)"] : []
    }
}

/// Cuts a stream of bytes into lines. Of many lines at once it keeps only the newest, so that a command that floods
/// costs little.
struct NewestLines {
    /// The maximum number of lines that are taken from one piece. A pipe has at most 64 KiB at a time.
    static let maximumLineCount = 64
    /// A piece of this many bytes means that more is waiting.
    static let mostBytes = CommandProcess.pieceByteCount

    private let limit: Int
    private var lines: LineCutter

    /// - Parameter limit: the maximum length of a line in bytes.
    init(limit: Int) {
        self.limit = limit
        lines = LineCutter(limit: limit)
    }

    /// Takes a piece, and returns the lines that are complete now, and whether they are only the newest of more.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> (lines: [LineCutter.Line], isFlood: Bool) {
        var rest = bytes[...]
        var count = 0
        for index in bytes.indices.reversed() where bytes[index] == UInt8(ascii: "\n") {
            count += 1
            guard count > Self.maximumLineCount else { continue }
            // Everything before it is ignored.
            rest = bytes[(index + 1)...]
            lines = LineCutter(limit: limit)
            break
        }
        lines.append(Array(rest)[...])
        var complete: [LineCutter.Line] = []
        while let line = lines.next() { complete.append(line) }
        return (complete, count > Self.maximumLineCount || bytes.count >= Self.mostBytes)
    }

    /// Returns the last line at the end of the stream, if it has no newline.
    mutating func last() -> LineCutter.Line? { lines.last() }
}
