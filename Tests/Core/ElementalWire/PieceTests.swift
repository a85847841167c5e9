import Foundation
import Testing

@testable import ElementalWire

/// Large values in pieces.
struct PieceTests {
    /// The value of a piece's frame.
    private func piece(_ id: Int8, _ total: Int, _ offset: Int, _ bytes: [UInt8]) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: Envelope.streamByteCount + Piece.headerByteCount)
        frame.withUnsafeMutableBytes { frame in
            guard let base = frame.baseAddress else { return }
            Piece.writeHeader(id: id, total: total, offset: offset, byteCount: bytes.count, to: base)
        }
        return Array(frame[Envelope.streamByteCount...]) + bytes
    }

    private func assemble(_ pieces: [[UInt8]]) throws -> (values: [[UInt8]], progress: [PieceAssembler.Progress]) {
        var assembler = PieceAssembler(maximumValueByteCount: 1000)
        var values: [[UInt8]] = []
        var progress: [PieceAssembler.Progress] = []
        for piece in pieces {
            try piece.withUnsafeBytes { bytes in
                try assembler.take(bytes) {
                    progress.append($0)
                } _: { _, value in
                    values.append(Array(value.bytes))
                }
            }
        }
        return (values, progress)
    }

    @Test
    func aHeaderHasItsBytes() {
        #expect(piece(4, 0x0102_0304, 0x0506_0708, [9]) == [4, 4, 3, 2, 1, 8, 7, 6, 5, 9])
    }

    @Test
    func piecesMakeTheValueAndTellHowFarItIs() throws {
        let result = try assemble([piece(4, 5, 0, [1, 2]), piece(4, 5, 2, [3, 4, 5]), piece(7, 1, 0, [6])])
        #expect(result.values == [[1, 2, 3, 4, 5], [6]])
        #expect(result.progress.map(\.byteCount) == [2, 5, 1])
        #expect(result.progress.map(\.total) == [5, 5, 1])
    }

    @Test(
        "a piece that does not fit is an error",
        arguments: [
            (1, 5, 3), (4, 6, 2), (4, 5, 1), (4, 5, 3), (4, 5, 0),
        ])
    func rejected(_ id: Int8, _ total: Int, _ offset: Int) {
        #expect(throws: WireError.self) { try assemble([piece(4, 5, 0, [1, 2]), piece(id, total, offset, [3])]) }
    }

    @Test
    func impossiblePiecesAreErrors() {
        for bytes in [
            [], [4], piece(4, 5, 0, []), piece(4, 1, 0, [1, 2]), piece(-3, 5, 0, [1]), piece(4, 0, 0, [1]),
            piece(4, 1001, 0, [1]), piece(4, 70_000, 0, [UInt8](repeating: 1, count: Piece.maximumByteCount + 1)),
        ] {
            #expect(throws: WireError.self) { try assemble([bytes]) }
        }
    }

    @Test
    func nothingIsBufferedOfASkippedValue() throws {
        var assembler = PieceAssembler(maximumValueByteCount: 1000)
        var values: [[UInt8]] = []
        for piece in [piece(4, 5, 0, [1, 2]), piece(4, 5, 2, [3, 4, 5]), piece(7, 2, 0, [6]), piece(7, 2, 1, [7])] {
            try piece.withUnsafeBytes { bytes in
                try assembler.take(bytes) { id, length in
                    id == 4 ? 0 : length
                } progress: { progress in
                    #expect(progress.id == 7)
                } _: { _, value in
                    values.append(Array(value.bytes))
                }
            }
            #expect(assembler.bufferedByteCount <= 1)
        }
        #expect(values == [[], [6, 7]])
    }
}
