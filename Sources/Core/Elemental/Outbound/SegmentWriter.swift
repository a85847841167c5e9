import NIOCore

/// Writes messages one behind the other into a buffer, which becomes a segment when it is full or taken.
///
/// What is in it lies between the buffer's start and the cursor: a message is written through the pointer, and the
/// buffer learns of it when the segment is complete.
///
/// Unchecked: its pointers lead into its own buffer, which nobody else has until the segment is complete, and whose
/// storage stays where it is until then. Copies share the storage, so a writer is never copied while it holds messages:
/// the queue that owns it is only changed in place.
struct SegmentWriter: @unchecked Sendable {
    /// The buffer that is being filled.
    private var buffer: ByteBuffer?
    /// Messages in it.
    private(set) var messageCount = 0
    private var start = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    private var cursor = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    /// Up to here a message may be written without a further look: the end of the segment, or of what was allowed.
    private var end = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    private var recycled: ByteBuffer?
    private var nextCapacity = Self.firstCapacity
    private let segmentByteCount: Int

    /// The storage that a quiet connection needs, in bytes; a busy one soon gets whole segments.
    private static let firstCapacity = 256

    init(segmentByteCount: Int) { self.segmentByteCount = segmentByteCount }

    /// Bytes in the buffer.
    var byteCount: Int {
        @inline(__always) get { cursor - start }
    }

    /// Whether `size` bytes can be written at once.
    @inline(__always)
    func hasSpace(for size: Int) -> Bool { end - cursor >= size }

    /// Adds a message of `size` bytes, for which there is space.
    @inline(__always)
    mutating func append(_ size: Int, write: (UnsafeMutableRawPointer) -> Void) {
        write(cursor)
        cursor += size
        messageCount += 1
    }

    /// Makes space for a message.
    ///
    /// - Parameters:
    ///   - size: its bytes.
    ///   - allowance: how many bytes may be written before this is asked again; `size` if that is more.
    /// - Returns: the segment before it, if the message had to begin another.
    @inline(never)
    mutating func makeSpace(for size: Int, allowance: Int) -> OutboundSegment? {
        var completed: OutboundSegment?
        if buffer == nil || byteCount + size > segmentByteCount {
            completed = complete()
            // Taken, not copied: clearing keeps the storage only where it has one owner.
            buffer = recycled.take()
            buffer?.clear()
        }
        var buffer = self.buffer.take() ?? ByteBuffer()
        let written = byteCount
        buffer.moveWriterIndex(forwardBy: written)
        if buffer.writableBytes < size {
            // Larger by steps, up to a segment; a value larger than that gets what it needs and no more.
            while nextCapacity < written + size, nextCapacity < segmentByteCount { nextCapacity *= 4 }
            nextCapacity = min(nextCapacity, segmentByteCount)
            buffer.reserveCapacity(max(nextCapacity, written + size))
        }
        let (first, last) = buffer.withVeryUnsafeMutableBytes { bytes in
            let base = bytes.baseAddress.unsafelyUnwrapped
            return (base, base + bytes.count)
        }
        buffer.moveWriterIndex(to: 0)
        self.buffer = buffer
        start = first
        cursor = first + written
        end = min(last, first + max(segmentByteCount, written + size), cursor + max(size, allowance))
        return completed
    }

    /// Takes out what was written, and gives its storage away.
    mutating func complete() -> OutboundSegment? {
        guard messageCount > 0, var buffer = buffer.take() else { return nil }
        buffer.moveWriterIndex(forwardBy: byteCount)
        let segment = OutboundSegment(buffer, messageCount: messageCount)
        cursor = start
        end = start
        messageCount = 0
        return segment
    }

    /// Takes out what was written; its storage serves again once the write has let go of it.
    mutating func take() -> OutboundSegment? {
        guard let segment = complete() else { return nil }
        let buffer = segment.buffer
        // Storage much larger than what it carried goes back to the system, so that an idle connection is small.
        let isFilled = buffer.readableBytes * 4 >= buffer.capacity && buffer.capacity <= 2 * segmentByteCount
        if isFilled || buffer.capacity <= 1024 {
            recycled = buffer
        } else {
            recycled = nil
            nextCapacity = Self.firstCapacity
        }
        return segment
    }

    /// Takes back the storage of a whole segment: memory that goes to the system and comes back has to be cleared.
    mutating func reuse(_ buffer: ByteBuffer) {
        if recycled == nil, buffer.capacity == segmentByteCount { recycled = buffer }
    }
}
