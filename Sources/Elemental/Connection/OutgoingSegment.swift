import ElementalWire
import NIOCore

/// A segment on its way into the socket, which may take it in pieces.
struct OutgoingSegment {
    private let segment: OutboundQueue.Segment
    private let byteCount: Int
    private var offset = 0

    /// What NIO is given of a long value when the socket is full: enough to be worth a wake-up, little to copy.
    private static let pieceByteCount = 16 * 1024

    init(_ segment: OutboundQueue.Segment) {
        self.segment = segment
        byteCount = segment.byteCount
    }

    var isComplete: Bool { offset == byteCount }

    /// Messages in it, of which the last may be a long one.
    var messageCount: Int { segment.messageCount }

    /// How much of a large value has left that is sent in one go.
    var wholeProgress: PieceAssembler.Progress? {
        guard let long = segment.long, long.count > Piece.wholeByteCount else { return nil }
        let gathered = segment.buffer.readableBytes
        let header = segment.buffer.readerIndex + gathered - Envelope.streamByteCount
        guard let id = segment.buffer.getInteger(at: header, as: Int8.self) else { return nil }
        return PieceAssembler.Progress(id: id, byteCount: max(0, offset - gathered), total: long.count)
    }

    /// The storage of the gathered messages.
    var buffer: ByteBuffer { segment.buffer }

    /// Writes what is left.
    ///
    /// - Parameter more: whether another segment follows at once.
    /// - Returns: how many bytes the socket took.
    mutating func write(to socket: StreamSocket, more: Bool) -> Int {
        let gathered = segment.buffer.readableBytes
        let count = segment.buffer.withUnsafeReadableBytes { bytes -> Int in
            let first = UnsafeRawBufferPointer(rebasing: bytes[min(offset, gathered)...])
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            guard let long = segment.long else { return socket.write(first, none, more: more) }
            return long.withUnsafeBytes { long in
                let second = UnsafeRawBufferPointer(rebasing: long[max(0, offset - gathered)...])
                return first.isEmpty
                    ? socket.write(second, none, more: more) : socket.write(first, second, more: more)
            }
        }
        offset += count
        return count
    }

    /// The next piece of what is left, as a buffer for NIO.
    mutating func nextPiece() -> ByteBuffer {
        let gathered = segment.buffer.readableBytes
        guard offset >= gathered, let long = segment.long else {
            defer { offset = gathered }
            return segment.buffer.getSlice(at: segment.buffer.readerIndex + offset, length: gathered - offset)
                ?? ByteBuffer()
        }
        let start = offset - gathered
        let count = min(long.count - start, Self.pieceByteCount)
        offset += count
        return long.withUnsafeBytes { ByteBuffer(bytes: $0[start..<start + count]) }
    }
}
