import ElementalWire
import NIOCore

/// The content of one write or one datagram, and how much of it has been written.
struct OutboundSegment {
    /// Batched messages; if there is a long value, its header is the last of them.
    let buffer: ByteBuffer
    /// A value that is sent from the program's own storage, without a copy.
    private let long: Data?
    /// Messages that this segment completes; the last may be the long one.
    let messageCount: Int
    /// The number of these messages that are the system's own, and not values.
    let systemCount: Int
    let byteCount: Int
    private(set) var writtenByteCount = 0

    /// The part of a long value that a channel gets when the socket is full: enough to be worth a wake-up, and little
    /// to copy.
    static let pieceByteCount = 16 * 1024
    /// The part that a pipeline with room gets: as much as it encrypts and writes at once.
    static let pipelineByteCount = 64 * 1024
    /// Batched messages of up to this many bytes are copied rather than passed in a buffer of their own.
    private static let smallByteCount = 1024

    init(_ buffer: ByteBuffer, long: Data? = nil, messageCount: Int, systemCount: Int = 0) {
        self.buffer = buffer
        self.long = long
        self.messageCount = messageCount
        self.systemCount = systemCount
        byteCount = buffer.readableBytes + (long?.count ?? 0)
    }

    var isComplete: Bool { writtenByteCount == byteCount }
    var valueCount: Int { messageCount - systemCount }

    /// The progress of a large value that is sent whole.
    var wholeProgress: PieceAssembler.Progress? {
        guard let long, long.count > Envelope.wholeByteCount else { return nil }
        let gathered = buffer.readableBytes
        let header = buffer.readerIndex + gathered - Envelope.streamByteCount
        guard let id = buffer.getInteger(at: header, as: Int8.self) else { return nil }
        return PieceAssembler.Progress(id: id, byteCount: max(0, writtenByteCount - gathered), total: long.count)
    }

    /// - Parameter write: takes two byte ranges, one after the other, of which the first is never empty, and returns
    ///   how many bytes it accepted.
    @discardableResult
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

    mutating func takePiece() -> ByteBuffer {
        var storage = ByteBuffer()
        return takePiece(atMost: Self.pieceByteCount, in: &storage)
    }

    /// Returns the next unwritten part and counts it as written. The storage is reused once no other code refers to it.
    mutating func takePiece(atMost most: Int, in storage: inout ByteBuffer) -> ByteBuffer {
        let gathered = buffer.readableBytes
        let unwritten = max(0, gathered - writtenByteCount)
        let head = buffer.getSlice(at: buffer.readerIndex + gathered - unwritten, length: unwritten) ?? ByteBuffer()
        guard let long, unwritten <= Self.smallByteCount else {
            writtenByteCount += unwritten
            return head
        }
        // A header shares a buffer with the value behind it.
        let start = max(0, writtenByteCount - gathered)
        let count = min(long.count - start, most)
        storage.clear(minimumCapacity: unwritten + count)
        storage.writeImmutableBuffer(head)
        _ = long.withUnsafeBytes { storage.writeBytes($0[start..<start + count]) }
        writtenByteCount += unwritten + count
        return storage
    }
}

/// How outgoing messages are framed, and how many bytes are sent together.
enum MessageFraming {
    /// 5-byte envelopes; a segment is enough to be worth one write.
    case stream
    /// 6-byte envelopes with the identifier; a segment is one datagram.
    case datagram(udpIdentifier: UInt8)

    /// Bytes before each value.
    var headerByteCount: Int {
        switch self {
        case .stream: Envelope.streamByteCount
        case .datagram: Envelope.datagramByteCount
        }
    }

    /// Several messages in a datagram fit an Ethernet frame over IPv6 with room to spare, so that batching never causes
    /// fragmentation; a longer message is sent alone.
    var segmentByteCount: Int {
        switch self {
        case .stream: 64 * 1024
        case .datagram: 1400
        }
    }

    @inline(__always)
    func writeHeader(id: Int8, length: Int, to destination: UnsafeMutableRawPointer) {
        switch self {
        case .stream:
            Envelope.writeStreamHeader(id: id, length: length, to: destination)
        case .datagram(let udpIdentifier):
            Envelope.writeDatagramHeader(id: id, length: length, udpIdentifier: udpIdentifier, to: destination)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Copies the bytes; 4 or 8 of them, as in most values, without a function call.
    @inline(__always)
    func copy(to destination: UnsafeMutableRawPointer) {
        guard let baseAddress else { return }
        switch count {
        case 4: destination.storeBytes(of: baseAddress.loadUnaligned(as: UInt32.self), as: UInt32.self)
        case 8: destination.storeBytes(of: baseAddress.loadUnaligned(as: UInt64.self), as: UInt64.self)
        default: destination.copyMemory(from: baseAddress, byteCount: count)
        }
    }
}
