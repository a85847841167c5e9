@testable import ElementalWire

/// The stream decoder: what it finds in a stream must not depend on how the network splits it, and must be what a plain
/// reading of the bytes finds. Of values that are not wanted it keeps no more than it is told to.
enum StreamTarget: FuzzTarget {
    static let name = "stream"
    private static let limit = 4096

    private struct Frame: Equatable {
        let id: UInt8
        let value: [UInt8]
    }

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let all = frames.streams.flatMap { $0 }
        func long(_ header: [UInt8], _ count: Int) -> [UInt8] { header + [UInt8](repeating: 1, count: count) }
        let next: [UInt8] = [1, 1, 0, 0, 0, 2]
        // The limit, one more, and a system element that may be longer.
        let limits: [[UInt8]] = [
            long([99, 9, 0, 16, 0, 0], 4096) + next, long([99, 9, 1, 16, 0, 0], 4097),
            long([99, 0xFB, 0, 32, 0, 0], 8192) + next,
        ]
        return frames.streams.map { [3] + $0 } + [[1] + all, [200] + all] + limits
    }

    /// The first byte says how long the pieces are.
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        let size = Int(reader.byte()) + 1
        let bytes = reader.bytes()
        let expected = plainReading(bytes)
        check(decode(bytes, size: size) == expected, "the stream in pieces of \(size)")
        check(decode(bytes, size: max(bytes.count, 1)) == expected, "the stream in one piece")
        let cut = decode(bytes, size: size, most: most)
        check(cut.map(\.?.id) == expected.map(\.?.id), "the frames of a stream whose values are not kept whole")
        for case (let cut?, let whole?) in zip(cut, expected) {
            check(whole.value.starts(with: cut.value), "a value that is not the whole one's beginning")
            check(cut.value.count >= min(most, whole.value.count), "less kept than was wanted")
        }
    }

    /// What is kept of a value where not all is wanted.
    private static let most = 8

    /// - Returns: the frames, and whether the stream ended with an error.
    private static func decode(_ bytes: [UInt8], size: Int, most: Int = .max) -> [Frame?] {
        var decoder = StreamDecoder(maximumValueByteCount: limit)
        var frames: [Frame?] = []
        for piece in bytes.pieces(of: size) {
            do {
                try piece.withUnsafeBytes { piece in
                    try decoder.decode(piece) { _, length in
                        min(length, most)
                    } _: { id, value in
                        frames.append(Frame(id: UInt8(bitPattern: id), value: Array(value.bytes)))
                        return .next
                    }
                }
            } catch {
                check(error is WireError, "an error of another kind: \(error)")
                return frames + [nil]
            }
            let longest = min(most, max(limit, SystemElement.maximumFrameByteCount))
            check(decoder.bufferedByteCount <= Envelope.streamByteCount + longest, "more kept than a frame")
        }
        return frames
    }

    private static func plainReading(_ bytes: [UInt8]) -> [Frame?] {
        var frames: [Frame?] = []
        var rest = bytes[...]
        while rest.count >= 5 {
            let header = Array(rest.prefix(5))
            let length = header[1...].reversed().reduce(0) { $0 << 8 | Int($1) }
            let isSystem = header[0] >= 128 && length <= SystemElement.maximumFrameByteCount
            guard length <= limit || isSystem else { return frames + [nil] }
            guard rest.count >= 5 + length else { break }
            frames.append(Frame(id: header[0], value: Array(rest.dropFirst(5).prefix(length))))
            rest = rest.dropFirst(5 + length)
        }
        return frames
    }
}
