/// The lines of a stream of bytes; of those that come at once the newest, so that a command that floods costs little.
struct NewestLines {
    /// The most lines that are taken from one piece. A pipe has at most 64 KiB at a time.
    static let mostAtOnce = 64
    /// A piece of so many bytes means that more is waiting.
    static let mostBytes = CommandProcess.pieceByteCount

    private let limit: Int
    private var lines: LineCutter

    /// - Parameter limit: the most bytes of a line.
    init(limit: Int) {
        self.limit = limit
        lines = LineCutter(limit: limit)
    }

    /// Takes the next piece of the stream.
    ///
    /// - Returns: the lines that are complete now, and whether there were more of which only the newest are left.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> (lines: [LineCutter.Line], isFlood: Bool) {
        var rest = bytes[...]
        var count = 0
        for index in bytes.indices.reversed() where bytes[index] == UInt8(ascii: "\n") {
            count += 1
            guard count > Self.mostAtOnce else { continue }
            // What came before is not looked at.
            rest = bytes[(index + 1)...]
            lines = LineCutter(limit: limit)
            break
        }
        lines.append(Array(rest)[...])
        var complete: [LineCutter.Line] = []
        while let line = lines.next() { complete.append(line) }
        return (complete, count > Self.mostAtOnce || bytes.count >= Self.mostBytes)
    }

    /// At the end of the stream: the last line, if it has no newline.
    mutating func last() -> LineCutter.Line? { lines.last() }
}
