import ElementalWire

/// The stream decoder: what it finds in a stream must not depend on how the network splits it, and must be what a plain
/// reading of the bytes finds.
enum StreamTarget: FuzzTarget {
    static let name = "stream"
    private static let limit = 4096

    private struct Frame: Equatable {
        let id: UInt8
        let value: [UInt8]
    }

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        frames.streams.map { [3] + $0 } + [[1] + frames.streams.joined(), [200] + frames.streams.joined()]
    }

    /// The first byte says how long the pieces are.
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        let size = Int(reader.byte()) + 1
        let bytes = reader.bytes()
        let expected = plainReading(bytes)
        check(decode(bytes, size: size) == expected, "the stream in pieces of \(size)")
        check(decode(bytes, size: max(bytes.count, 1)) == expected, "the stream in one piece")
    }

    /// - Returns: the frames, and whether the stream ended with an error.
    private static func decode(_ bytes: [UInt8], size: Int) -> [Frame?] {
        var decoder = StreamDecoder(maximumValueByteCount: limit)
        var frames: [Frame?] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            do {
                // A copy of exactly these bytes, so that reading past them is found by the address sanitizer.
                try Array(bytes[start..<min(start + size, bytes.count)]).withUnsafeBytes { piece in
                    try decoder.decode(piece) { id, value in
                        frames.append(Frame(id: UInt8(bitPattern: id), value: Array(value.bytes)))
                        return .next
                    }
                }
            } catch {
                check(error is WireError, "an error of another kind: \(error)")
                return frames + [nil]
            }
            check(decoder.bufferedByteCount <= Envelope.streamByteCount + limit, "more kept than a frame")
        }
        return frames
    }

    private static func plainReading(_ bytes: [UInt8]) -> [Frame?] {
        var frames: [Frame?] = []
        var rest = bytes[...]
        while rest.count >= 5 {
            let header = Array(rest.prefix(5))
            let length = header[1...].reversed().reduce(0) { $0 << 8 | Int($1) }
            guard length <= limit else { return frames + [nil] }
            guard rest.count >= 5 + length else { break }
            frames.append(Frame(id: header[0], value: Array(rest.dropFirst(5).prefix(length))))
            rest = rest.dropFirst(5 + length)
        }
        return frames
    }
}
