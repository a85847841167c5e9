import ElementalWire
import NIOCore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// Encoded messages on their way out, gathered into segments: what one write, or one datagram, takes.
///
/// It has no socket; a device guards one for TCP and one for UDP with a lock, appends from any thread and lets the
/// event loop take segments. Memory is bounded by the limit; `latest` elements keep one unsent value each.
///
/// Unchecked: its pointers lead into its own buffer, which nobody else has.
struct OutboundQueue: @unchecked Sendable {
    enum Kind {
        /// 5-byte envelopes; a segment is as much as is worth one write.
        case stream
        /// 6-byte envelopes with the identifier; a segment is one datagram.
        case datagram(udpIdentifier: UInt8)
    }

    /// Bytes per segment of a stream: a message that would not fit starts a new one.
    static let streamSegmentByteCount = 64 * 1024
    /// Bytes per datagram that is made of several messages. It fits an Ethernet frame over IPv6 with room to spare,
    /// so that gathering never causes fragmentation; a longer message travels alone.
    static let datagramSegmentByteCount = 1400

    /// What one write or one datagram takes.
    struct Segment {
        /// Gathered messages; where there is a long value, its header is the last of them.
        var buffer: ByteBuffer
        /// A value that is sent from where the program has it.
        var long: Data?
        var messageCount: Int

        var byteCount: Int { buffer.readableBytes + (long?.count ?? 0) }
    }

    private struct LatestValue {
        let id: Int8
        var value: [UInt8]
    }

    let kind: Kind
    let limit: Int
    private let header: Int
    private let segmentByteCount: Int
    private var full: CircularBuffer<Segment> = CircularBuffer(initialCapacity: 1)
    private var fullByteCount = 0
    private var fullMessageCount = 0
    /// Messages that were taken, without end.
    private(set) var takenMessageCount: UInt64 = 0
    /// The segment being filled. What is in it lies between its writer index and the cursor: a message is written
    /// through the pointer, and the buffer hears of it when the segment is complete. Nobody else has the buffer, and
    /// its storage stays where it is until then.
    private var tail: ByteBuffer?
    private var tailMessageCount = 0
    private var start = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    private var cursor = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    /// Up to here a message may be written without a further look: the end of the segment, or of the limit.
    private var end = UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    private var recycled: ByteBuffer?
    private var nextCapacity = Self.firstCapacity
    private var latest: [LatestValue] = []
    private var latestByteCount = 0

    /// The storage that a quiet connection needs, in bytes; a busy one soon gets whole segments.
    private static let firstCapacity = 256

    init(_ kind: Kind, limit: Int) {
        self.kind = kind
        self.limit = limit
        switch kind {
        case .stream:
            segmentByteCount = Self.streamSegmentByteCount
            header = Envelope.streamByteCount
        case .datagram:
            segmentByteCount = Self.datagramSegmentByteCount
            header = Envelope.datagramByteCount
        }
    }

    /// Bytes that wait, with their envelopes.
    var byteCount: Int { fullByteCount + (cursor - start) + latestByteCount }
    /// Messages that wait.
    var messageCount: Int { fullMessageCount + tailMessageCount + latest.count }

    var isEmpty: Bool { messageCount == 0 }

    /// Messages that were taken or will be before any that comes now.
    var queuedMessageCount: UInt64 { takenMessageCount + UInt64(fullMessageCount + tailMessageCount) }

    /// Whether a message of `length` value bytes may be added. An empty queue takes any.
    func hasRoom(for length: Int) -> Bool {
        end - cursor >= header + length || byteCount == 0 || byteCount + header + length <= limit
    }

    /// Adds a message. The caller has asked for room.
    ///
    /// - Returns: the bytes that it takes with its envelope.
    @discardableResult
    @inline(__always)
    mutating func append(id: Int8, length: Int, write: (UnsafeMutableRawPointer) -> Void) -> Int {
        let size = header + length
        if end - cursor < size { makeRoom(for: size) }
        switch kind {
        case .stream:
            Envelope.writeStreamHeader(id: id, length: length, to: cursor)
        case .datagram(let udpIdentifier):
            Envelope.writeDatagramHeader(id: id, length: length, udpIdentifier: udpIdentifier, to: cursor)
        }
        write(cursor + header)
        cursor += size
        tailMessageCount += 1
        return size
    }

    /// Adds a message whose value stays where it is until it is sent. The caller has asked for room.
    ///
    /// - Returns: the bytes that it takes with its envelope.
    mutating func append(id: Int8, long: Data) -> Int {
        if end - cursor < header { makeRoom(for: header) }
        Envelope.writeStreamHeader(id: id, length: long.count, to: cursor)
        cursor += header
        tailMessageCount += 1
        completeTail(long)
        return header + long.count
    }

    /// Sees to it that `size` bytes can be written at the cursor.
    @inline(never)
    private mutating func makeRoom(for size: Int) {
        let filled = cursor - start
        if filled + size > segmentByteCount || tail == nil {
            completeTail()
            // Taken, not copied: clearing keeps the storage only where it has one owner.
            tail = recycled.take()
            tail?.clear()
        }
        var buffer = tail.take() ?? ByteBuffer()
        buffer.moveWriterIndex(forwardBy: cursor - start)
        if buffer.writableBytes < size {
            // Larger by steps, up to a segment; a value larger than that gets what it needs and no more.
            while nextCapacity < buffer.readableBytes + size, nextCapacity < segmentByteCount { nextCapacity *= 4 }
            nextCapacity = min(nextCapacity, segmentByteCount)
            buffer.reserveCapacity(max(nextCapacity, buffer.readableBytes + size))
        }
        let written = buffer.readableBytes
        let (first, last) = buffer.withVeryUnsafeMutableBytes { bytes in
            let base = bytes.baseAddress.unsafelyUnwrapped
            return (base, base + bytes.count)
        }
        buffer.moveWriterIndex(to: 0)
        tail = buffer
        start = first
        cursor = first + written
        // Past the limit every message is looked at; one that was let in has its room all the same.
        let room = max(size, limit - fullByteCount - latestByteCount - written)
        end = min(last, first + max(segmentByteCount, written + size), cursor + room)
    }

    /// Puts what is in the tail, if anything, behind the full segments.
    private mutating func completeTail(_ long: Data? = nil) {
        guard var segment = takeTail() else { return }
        segment.long = long
        fullByteCount += segment.byteCount
        fullMessageCount += segment.messageCount
        full.append(segment)
    }

    private mutating func takeTail() -> Segment? {
        guard tailMessageCount > 0, var buffer = tail.take() else { return nil }
        buffer.moveWriterIndex(forwardBy: cursor - start)
        let segment = Segment(buffer: buffer, long: nil, messageCount: tailMessageCount)
        cursor = start
        end = start
        tailMessageCount = 0
        return segment
    }

    /// Sets the newest value of a `latest` element.
    ///
    /// - Returns: whether it took the place of an unsent one.
    mutating func replace(id: Int8, length: Int, write: (UnsafeMutableRawPointer) -> Void) -> Bool {
        let value = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            if let base = buffer.baseAddress { write(UnsafeMutableRawPointer(base)) }
            count = length
        }
        if let position = latest.firstIndex(where: { $0.id == id }) {
            latestByteCount += length - latest[position].value.count
            latest[position].value = value
            return true
        }
        latest.append(LatestValue(id: id, value: value))
        latestByteCount += header + length
        return false
    }

    /// Whether there is a segment to take.
    ///
    /// - Parameter held: elements whose `latest` values have to wait.
    @inline(__always)
    func hasSegment(holding held: IdentifierSet) -> Bool {
        !full.isEmpty || tailMessageCount > 0 || latest.contains { !held.contains($0.id) }
    }

    /// Takes out the unsent values of `latest` elements.
    mutating func takeLatest() -> [(id: Int8, value: [UInt8])] {
        defer {
            latest = []
            latestByteCount = 0
        }
        return latest.map { ($0.id, $0.value) }
    }

    /// The next segment to write, oldest first; `latest` values come when nothing else waits.
    ///
    /// - Parameter held: elements whose `latest` values have to wait.
    @inline(__always)
    mutating func takeSegment(holding held: IdentifierSet = IdentifierSet()) -> Segment? {
        if let segment = full.popFirst() { return taken(segment) }
        if tailMessageCount == 0, !latest.isEmpty {
            encodeLatest(held)
            if let segment = full.popFirst() { return taken(segment) }
        }
        guard let segment = takeTail() else { return nil }
        takenMessageCount += UInt64(segment.messageCount)
        // Its storage serves again once the write has let go of it. Storage much larger than what it carried goes back
        // to the system, so that an idle connection is small.
        let buffer = segment.buffer
        let isFilled = buffer.readableBytes * 4 >= buffer.capacity && buffer.capacity <= 2 * segmentByteCount
        if isFilled || buffer.capacity <= 1024 {
            recycled = buffer
        } else {
            recycled = nil
            nextCapacity = Self.firstCapacity
        }
        return segment
    }

    /// Takes back the storage of a whole segment while more is queued: memory that goes to the system and comes back has
    /// to be cleared.
    mutating func reuse(_ buffer: ByteBuffer) {
        if recycled == nil, messageCount > 0, buffer.capacity == segmentByteCount { recycled = buffer }
    }

    private mutating func taken(_ segment: Segment) -> Segment {
        fullByteCount -= segment.byteCount
        fullMessageCount -= segment.messageCount
        takenMessageCount += UInt64(segment.messageCount)
        return segment
    }

    /// Takes out a `latest` value of more than `byteCount` bytes that does not have to wait.
    mutating func takeLatest(longerThan byteCount: Int, holding held: IdentifierSet) -> (id: Int8, value: [UInt8])? {
        guard let position = latest.firstIndex(where: { $0.value.count > byteCount && !held.contains($0.id) }) else {
            return nil
        }
        let entry = latest.remove(at: position)
        latestByteCount -= header + entry.value.count
        return (entry.id, entry.value)
    }

    private mutating func encodeLatest(_ held: IdentifierSet) {
        let values = latest
        latest.removeAll(keepingCapacity: true)
        latestByteCount = 0
        for entry in values {
            if held.contains(entry.id) {
                latest.append(entry)
                latestByteCount += header + entry.value.count
                continue
            }
            append(id: entry.id, length: entry.value.count) { destination in
                entry.value.withUnsafeBytes { bytes in
                    guard let base = bytes.baseAddress else { return }
                    destination.copyMemory(from: base, byteCount: bytes.count)
                }
            }
        }
    }
}
