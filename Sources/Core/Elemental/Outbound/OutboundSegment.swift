import ElementalWire
import NIOCore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// The content of one write or one datagram, and how much of it has been written.
struct OutboundSegment {
    /// Batched messages; if there is a long value, its header is the last of them.
    let buffer: ByteBuffer
    /// A value that is sent from where the program has it.
    private let long: Data?
    /// Messages that this segment completes, of which the last may be the long one.
    let messageCount: Int
    let byteCount: Int
    private(set) var writtenByteCount = 0

    /// The part of a long value that a channel is given when the socket is full: enough to be worth a wake-up, little
    /// to copy.
    static let pieceByteCount = 16 * 1024
    /// The part that a pipeline is given that has room: as much as it encrypts and writes at once.
    static let pipelineByteCount = 64 * 1024
    /// Batched messages of so many bytes are copied rather than passed in a buffer of their own.
    private static let smallByteCount = 1024

    init(_ buffer: ByteBuffer, long: Data? = nil, messageCount: Int) {
        self.buffer = buffer
        self.long = long
        self.messageCount = messageCount
        byteCount = buffer.readableBytes + (long?.count ?? 0)
    }

    var isComplete: Bool { writtenByteCount == byteCount }

    /// The progress of a large value that is sent whole.
    var wholeProgress: PieceAssembler.Progress? {
        guard let long, long.count > Piece.wholeByteCount else { return nil }
        let gathered = buffer.readableBytes
        let header = buffer.readerIndex + gathered - Envelope.streamByteCount
        guard let id = buffer.getInteger(at: header, as: Int8.self) else { return nil }
        return PieceAssembler.Progress(id: id, byteCount: max(0, writtenByteCount - gathered), total: long.count)
    }

    /// Writes what is left.
    ///
    /// - Parameter write: accepts two byte ranges, one after the other, of which the first is never empty, and returns
    ///   how many bytes it accepted.
    /// - Returns: how many bytes were accepted.
    mutating func write(_ write: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int) -> Int {
        let gathered = buffer.readableBytes
        let count = buffer.withUnsafeReadableBytes { bytes -> Int in
            let first = UnsafeRawBufferPointer(rebasing: bytes[min(writtenByteCount, gathered)...])
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            guard let long else { return write(first, nothing) }
            return long.withUnsafeBytes { long in
                let second = UnsafeRawBufferPointer(rebasing: long[max(0, writtenByteCount - gathered)...])
                return first.isEmpty ? write(second, nothing) : write(first, second)
            }
        }
        writtenByteCount += count
        return count
    }

    /// The next part of what is left, as a separate buffer, which counts as written.
    mutating func takePiece() -> ByteBuffer {
        var storage = ByteBuffer()
        return takePiece(atMost: Self.pieceByteCount, in: &storage)
    }

    /// The same in storage that is used again once nobody has it any more.
    ///
    /// - Parameter most: the most bytes of a long value.
    mutating func takePiece(atMost most: Int, in storage: inout ByteBuffer) -> ByteBuffer {
        let gathered = buffer.readableBytes
        let unwritten = max(0, gathered - writtenByteCount)
        let head = buffer.getSlice(at: buffer.readerIndex + gathered - unwritten, length: unwritten) ?? ByteBuffer()
        guard let long, unwritten <= Self.smallByteCount else {
            writtenByteCount += unwritten
            return head
        }
        // A header shares a buffer with what follows it.
        let start = max(0, writtenByteCount - gathered)
        let count = min(long.count - start, most)
        storage.clear(minimumCapacity: unwritten + count)
        storage.writeImmutableBuffer(head)
        _ = long.withUnsafeBytes { storage.writeBytes($0[start..<start + count]) }
        writtenByteCount += unwritten + count
        return storage
    }
}
