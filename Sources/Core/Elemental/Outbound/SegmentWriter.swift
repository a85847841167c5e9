import NIOCore

/// Writes messages one after the other into a buffer, which becomes a segment when it is full or taken.
///
/// The content lies between the buffer's start and the cursor: a message is written through the pointer, and the
/// buffer's indices are updated when the segment is complete.
///
/// Unchecked: its pointers point into its own buffer, which nobody else has until the segment is complete, and whose
/// storage does not move until then. Copies share the storage, so a writer is never copied while it holds messages: the
/// queue that owns it is only mutated in place.
struct SegmentWriter: @unchecked Sendable {
    /// The buffer being filled.
    private var buffer: ByteBuffer?
    /// Messages in it.
    private(set) var messageCount = 0
    private var start = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    private var cursor = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    /// A message may be written up to here without a further check: the end of the segment, or of the allowance.
    private var end = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    /// A message may be written up to here without any decision, as the owner has found; not beyond ``end``.
    private var clearEnd = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    private var recycled: ByteBuffer?
    private var nextCapacity = Self.firstCapacity
    private let segmentByteCount: Int

    /// The storage of an idle connection, in bytes; a busy one soon gets whole segments.
    private static let firstCapacity = 256
    /// Storage of so many bytes is kept however little it is used.
    private static let keptByteCount = 1024

    init(segmentByteCount: Int) { self.segmentByteCount = segmentByteCount }

    /// Bytes in the buffer.
    var byteCount: Int {
        @inline(__always) get { cursor - start }
    }

    /// Whether `size` bytes can be written at once.
    @inline(__always)
    func hasSpace(for size: Int) -> Bool { end - cursor >= size }

    /// Whether `size` bytes can be written without any decision.
    @inline(__always)
    func hasClearSpace(for size: Int) -> Bool { clearEnd - cursor >= size }

    /// So many bytes may be written without any decision, as far as there is space, until the segment is taken.
    @inline(__always)
    mutating func clear(_ byteCount: Int) { clearEnd = min(end, cursor + max(0, byteCount)) }

    /// Every message needs a decision again.
    @inline(__always)
    mutating func endClearSpace() { clearEnd = start }

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
    ///   - allowance: how many bytes may be written before the next check; `size` if that is more.
    /// - Returns: the previous segment, if the message had to begin another.
    @inline(never)
    mutating func makeSpace(for size: Int, allowance: Int) -> OutboundSegment? {
        var completed: OutboundSegment?
        if buffer == nil || byteCount + size > segmentByteCount {
            completed = complete()
            // Taken, not copied: clearing keeps the storage only if it is uniquely referenced.
            buffer = recycled.take()
            buffer?.clear()
        }
        var buffer = self.buffer.take() ?? ByteBuffer()
        let written = byteCount
        buffer.moveWriterIndex(forwardBy: written)
        if buffer.writableBytes < size {
            // Grows in steps, up to a segment; a value larger than that gets what it needs and no more.
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
        endClearSpace()
        return completed
    }

    /// Copies what was written and keeps the storage, so that the next message needs no check for space.
    ///
    /// - Returns: `nil` if there is nothing, more than the destination holds, or if the storage is too large to be kept by a
    ///   connection that sends little.
    @inline(__always)
    mutating func move(to destination: UnsafeMutableRawBufferPointer) -> (byteCount: Int, messageCount: Int)? {
        let content = UnsafeRawBufferPointer(start: start, count: byteCount)
        guard !content.isEmpty, content.count <= destination.count, end - start <= Self.keptByteCount else {
            return nil
        }
        destination.copyMemory(from: content)
        defer {
            cursor = start
            messageCount = 0
            endClearSpace()
        }
        return (content.count, messageCount)
    }

    /// Takes out what was written, and gives up its storage.
    mutating func complete() -> OutboundSegment? {
        guard messageCount > 0, var buffer = buffer.take() else { return nil }
        buffer.moveWriterIndex(forwardBy: byteCount)
        let segment = OutboundSegment(buffer, messageCount: messageCount)
        cursor = start
        end = start
        messageCount = 0
        endClearSpace()
        return segment
    }

    /// Takes out what was written; its storage is reused once the write has released it.
    mutating func take() -> OutboundSegment? {
        guard let segment = complete() else { return nil }
        let buffer = segment.buffer
        // Storage much larger than its content is freed, so that an idle connection is small.
        let isFilled = buffer.readableBytes * 4 >= buffer.capacity && buffer.capacity <= 2 * segmentByteCount
        if isFilled || buffer.capacity <= Self.keptByteCount {
            recycled = buffer
        } else {
            recycled = nil
            nextCapacity = Self.firstCapacity
        }
        return segment
    }

    /// Recycles the storage of a whole segment: memory that is returned to the system and allocated again has to be
    /// cleared.
    mutating func reuse(_ buffer: ByteBuffer) {
        if recycled == nil, buffer.capacity == segmentByteCount { recycled = buffer }
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
