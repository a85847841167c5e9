import ElementalWire
import NIOCore

/// Encoded messages on their way out, gathered into segments: what one write, or one datagram, takes.
///
/// It has no socket; a device guards one for TCP and one for UDP with a lock, appends from any thread and lets the
/// event loop take segments. Memory is bounded by the limit; `latest` elements keep one unsent value each.
struct OutboundQueue {
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
        var buffer = ByteBuffer()
        var messageCount = 0
    }

    private struct LatestValue {
        let id: Int8
        var value: [UInt8]
    }

    let kind: Kind
    let limit: Int
    private let segmentByteCount: Int
    private var full: CircularBuffer<Segment> = CircularBuffer(initialCapacity: 1)
    private var tail = Segment()
    private var recycled: ByteBuffer?
    private var latest: [LatestValue] = []
    private(set) var byteCount = 0
    private(set) var messageCount = 0

    init(_ kind: Kind, limit: Int) {
        self.kind = kind
        self.limit = limit
        switch kind {
        case .stream: segmentByteCount = Self.streamSegmentByteCount
        case .datagram: segmentByteCount = Self.datagramSegmentByteCount
        }
    }

    var isEmpty: Bool { messageCount == 0 }

    private var headerByteCount: Int {
        switch kind {
        case .stream: Envelope.streamByteCount
        case .datagram: Envelope.datagramByteCount
        }
    }

    /// Whether a message of `length` value bytes may be added. An empty queue takes any.
    func hasRoom(for length: Int) -> Bool {
        byteCount == 0 || byteCount + headerByteCount + length <= limit
    }

    /// Adds a message. The caller has asked for room.
    ///
    /// - Returns: the bytes that it takes with its envelope.
    @discardableResult
    mutating func append(id: Int8, length: Int, write: (UnsafeMutableRawPointer) -> Void) -> Int {
        let header = headerByteCount
        let size = header + length
        if tail.messageCount > 0, tail.buffer.readableBytes + size > segmentByteCount {
            full.append(tail)
            tail = Segment()
        }
        // Taken, not copied: clearing keeps the storage only where it has one owner.
        if tail.messageCount == 0, let buffer = recycled.take() {
            tail.buffer = buffer
            tail.buffer.clear()
        }
        tail.messageCount += 1
        tail.buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { bytes in
            let base = bytes.baseAddress.unsafelyUnwrapped
            switch kind {
            case .stream:
                Envelope.writeStreamHeader(id: id, length: length, to: base)
            case .datagram(let udpIdentifier):
                Envelope.writeDatagramHeader(id: id, length: length, udpIdentifier: udpIdentifier, to: base)
            }
            write(base + header)
            return size
        }
        byteCount += size
        messageCount += 1
        return size
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
            byteCount += length - latest[position].value.count
            latest[position].value = value
            return true
        }
        latest.append(LatestValue(id: id, value: value))
        byteCount += headerByteCount + length
        messageCount += 1
        return false
    }

    /// The next segment to write, oldest first; `latest` values come when nothing else waits.
    mutating func takeSegment() -> Segment? {
        if let segment = full.popFirst() { return taken(segment) }
        if tail.messageCount == 0 {
            encodeLatest()
            if let segment = full.popFirst() { return taken(segment) }
            guard tail.messageCount > 0 else { return nil }
        }
        let segment = tail
        tail = Segment()
        // Its storage serves again once the write has let go of it. Storage much larger than what it carried goes back
        // to the system, so that an idle connection is small.
        let buffer = segment.buffer
        recycled = buffer.capacity <= 1024 || buffer.readableBytes * 4 >= buffer.capacity ? buffer : nil
        return taken(segment)
    }

    private mutating func taken(_ segment: Segment) -> Segment {
        byteCount -= segment.buffer.readableBytes
        messageCount -= segment.messageCount
        return segment
    }

    private mutating func encodeLatest() {
        guard !latest.isEmpty else { return }
        let values = latest
        latest.removeAll(keepingCapacity: true)
        for entry in values {
            byteCount -= headerByteCount + entry.value.count
            messageCount -= 1
            append(id: entry.id, length: entry.value.count) { destination in
                entry.value.withUnsafeBytes { bytes in
                    guard let base = bytes.baseAddress else { return }
                    destination.copyMemory(from: base, byteCount: bytes.count)
                }
            }
        }
    }
}
