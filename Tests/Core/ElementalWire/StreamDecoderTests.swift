import ElementalWire
import TestSupport
import Testing
import WireVectors

struct StreamDecoderTests {
    private static let stream = WireVectors.recorded.tcpEchoes.flatMap(\.bytes)

    @Test("every frame split at every position, and the whole stream split at every pair of nearby positions")
    func everySplit() throws {
        let whole = try Frames.decode(Self.stream)
        #expect(whole.count == WireVectors.recorded.tcpEchoes.count)
        for first in 0...Self.stream.count {
            for length in 0...12 {
                let second = min(first + length, Self.stream.count)
                var decoder = StreamDecoder(maximumValueByteCount: 1024)
                var frames = try Frames.feed(&decoder, Self.stream[..<first])
                frames += try Frames.feed(&decoder, Self.stream[first..<second])
                frames += try Frames.feed(&decoder, Self.stream[second...])
                guard frames == whole, decoder.bufferedByteCount == 0 else {
                    Issue.record("split at \(first) and \(second)")
                    return
                }
            }
        }
    }

    @Test
    func oneByteAtATime() throws {
        var decoder = StreamDecoder(maximumValueByteCount: 1024)
        var frames: [Frames.Frame] = []
        for index in Self.stream.indices { frames += try Frames.feed(&decoder, Self.stream[index...index]) }
        #expect(frames == (try Frames.decode(Self.stream)))
    }

    @Test
    func anEmptyValueIsAFrame() throws {
        #expect(try Frames.decode([11, 0, 0, 0, 0, 2, 1, 0, 0, 0, 9]).map(\.value) == [[], [9]])
    }

    @Test(arguments: [[11, 255, 255, 255, 255], [11, 0xff, 0xff, 0xff, 0x7f], [3, 1, 4, 0, 0]] as [[UInt8]])
    func aLengthBeyondTheLimitEndsTheStreamAndTakesNoMemory(_ header: [UInt8]) throws {
        for split in 0...header.count {
            var decoder = StreamDecoder(maximumValueByteCount: 1024)
            #expect(throws: WireError.self) {
                _ = try Frames.feed(&decoder, header[..<split])
                _ = try Frames.feed(&decoder, header[split...])
            }
            #expect(decoder.bufferedByteCount <= 5)
        }
    }

    @Test
    func theLimitItselfIsAllowed() throws {
        let frame = Frames.encode(5, [UInt8](repeating: 7, count: 1024))
        #expect(try Frames.decode(frame, limit: 1024).first?.value.count == 1024)
    }

    @Test
    func aValueThatNeverCompletesHoldsOnlyWhatCame() throws {
        var decoder = StreamDecoder(maximumValueByteCount: 64 << 20)
        #expect(try Frames.feed(&decoder, [1, 0, 0, 0, 4, 9, 9, 9]).isEmpty)
        #expect(decoder.bufferedByteCount == 8)
        #expect(decoder.pendingFrame?.length == 64 << 20)
    }

    @Test("nothing of a skipped value is kept, and what follows is found, however the stream is split")
    func unwantedValues() throws {
        let stream =
            Frames.encode(1, [UInt8](repeating: 1, count: 500)) + Frames.encode(2, [UInt8](repeating: 2, count: 500))
            + Frames.encode(3, [3, 3, 3])
        for size in 1...40 {
            var decoder = StreamDecoder(maximumValueByteCount: 1024)
            var frames: [Frames.Frame] = []
            var asked: [Int8] = []
            var most = 0
            for start in stride(from: 0, to: stream.count, by: size) {
                try Array(stream[start..<min(start + size, stream.count)]).withUnsafeBytes { bytes in
                    try decoder.decode(bytes) { id, length in
                        asked.append(id)
                        return id == 1 ? 0 : id == 2 ? 10 : length
                    } _: { id, value in
                        frames.append(Frames.Frame(id: id, value: Array(value.bytes)))
                        return .next
                    }
                }
                most = max(most, decoder.bufferedByteCount)
            }
            #expect(frames.map(\.id) == [1, 2, 3])
            #expect(frames.prefix(2).map(\.value) == [[], [UInt8](repeating: 2, count: 10)])
            #expect(frames.last?.value == [3, 3, 3])
            #expect(asked.prefix(2) == [1, 2])
            #expect(asked.count <= 3)
            #expect(most <= Envelope.streamByteCount + 10)
            #expect(decoder.bufferedByteCount == 0)
        }
    }

    @Test
    func theSystemsOwnFramesMayBeLongerThanTheLimitForValues() throws {
        let catalogue = Frames.encode(-5, [UInt8](repeating: 7, count: 2000))
        #expect(try Frames.decode(catalogue, limit: 100).first?.value.count == 2000)
        for split in [3, 5, 100] {
            var decoder = StreamDecoder(maximumValueByteCount: 100)
            var frames = try Frames.feed(&decoder, catalogue[..<split])
            frames += try Frames.feed(&decoder, catalogue[split...])
            #expect(frames.first?.value.count == 2000)
        }
        let header = Array(Frames.encode(-5, []).prefix(1)) + [1, 0, 0x10, 0]
        #expect(throws: WireError.self) { _ = try Frames.decode(header, limit: 100) }
    }

    @Test
    func stoppingLeavesTheRest() throws {
        var decoder = StreamDecoder(maximumValueByteCount: 1024)
        var count = 0
        try Self.stream.withUnsafeBytes { bytes in
            try decoder.decode(bytes) { _, _ in
                count += 1
                return count == 3 ? .stop : .next
            }
        }
        #expect(count == 3)
    }

    @Test("random bytes and mutated frames in random pieces: errors, no crash, the same frames however split")
    func hostileBytes() throws {
        var random = SeededGenerator(seed: 22)
        for round in 0..<3000 {
            var bytes = Self.stream
            if round.isMultiple(of: 2) {
                for _ in 0...Int.random(in: 0...8, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
            } else {
                bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in .random(in: 0...255, using: &random) }
            }
            #expect(
                Self.outcome(bytes, pieces: nil, &random) == Self.outcome(bytes, pieces: 7, &random), "round \(round)")
        }
    }

    /// The frames up to an error, and whether there was one.
    private static func outcome(_ bytes: [UInt8], pieces: Int?, _ random: inout SeededGenerator) -> [Frames.Frame] {
        var decoder = StreamDecoder(maximumValueByteCount: 4096)
        var frames: [Frames.Frame] = []
        var start = 0
        while start < bytes.count {
            let end = pieces.map { min(bytes.count, start + Int.random(in: 1...$0, using: &random)) } ?? bytes.count
            let piece = Array(bytes[start..<end])
            do {
                try piece.withUnsafeBytes { bytes in
                    try decoder.decode(bytes) { id, value in
                        frames.append(Frames.Frame(id: id, value: Array(value.bytes)))
                        return .next
                    }
                }
            } catch {
                frames.append(Frames.Frame(id: -128, value: [255]))
                return frames
            }
            start = end
        }
        return frames
    }
}
