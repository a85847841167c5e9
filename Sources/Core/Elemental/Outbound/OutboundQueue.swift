import DequeModule
import ElementalWire
import NIOCore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// Encoded messages to be sent over one transport, batched into segments: the content of one write, or of one datagram.
///
/// Memory is bounded by the limit; `latest` elements keep one unsent value each.
struct OutboundQueue {
    let framing: MessageFraming
    let limit: Int
    private let header: Int
    /// Complete segments, oldest first.
    private var full: Deque<OutboundSegment> = []
    private var fullByteCount = 0
    private var fullMessageCount = 0
    /// The segment being filled.
    private var writer: SegmentWriter
    private var latest: LatestValues
    /// Messages taken since the connection began.
    private(set) var takenMessageCount: UInt64 = 0

    init(_ framing: MessageFraming, limit: Int) {
        self.framing = framing
        self.limit = limit
        header = framing.headerByteCount
        writer = SegmentWriter(segmentByteCount: framing.segmentByteCount)
        latest = LatestValues(headerByteCount: header)
    }

    /// Queued bytes, including envelopes.
    var byteCount: Int {
        @inline(__always) get { fullByteCount + writer.byteCount + latest.byteCount }
    }
    /// Queued messages.
    var messageCount: Int { fullMessageCount + writer.messageCount + latest.count }

    var isEmpty: Bool { messageCount == 0 }

    /// How many messages have been or will be taken before any that is added now.
    var queuedMessageCount: UInt64 { takenMessageCount + UInt64(fullMessageCount + writer.messageCount) }

    /// Whether a message of `length` value bytes may be added. An empty queue accepts any.
    @inline(__always)
    func hasRoom(for length: Int) -> Bool {
        writer.hasSpace(for: header + length) || byteCount == 0 || byteCount + header + length <= limit
    }

    /// Whether a message of `length` value bytes may be added without any decision.
    @inline(__always)
    func hasClearSpace(for length: Int) -> Bool { writer.hasClearSpace(for: header + length) }

    /// So many bytes, including envelopes, may be added without any decision, as far as the segment has space.
    @inline(__always)
    mutating func clear(_ byteCount: Int) { writer.clear(byteCount) }

    /// Every message needs a decision again.
    @inline(__always)
    mutating func endClearSpace() { writer.endClearSpace() }

    /// Adds a message. The caller has checked for room.
    ///
    /// - Returns: its bytes, including the envelope.
    @discardableResult
    @inline(__always)
    mutating func append(id: Int8, _ bytes: UnsafeRawBufferPointer) -> Int {
        let size = header + bytes.count
        if !writer.hasSpace(for: size) { makeSpace(for: size) }
        let (framing, header) = (framing, header)
        writer.append(size) { destination in
            framing.writeHeader(id: id, length: bytes.count, to: destination)
            bytes.copy(to: destination + header)
        }
        return size
    }

    /// Adds a message whose value is not copied into the queue. The caller has checked for room.
    ///
    /// - Returns: its bytes, including the envelope.
    @discardableResult
    mutating func append(id: Int8, long: Data) -> Int {
        if !writer.hasSpace(for: header) { makeSpace(for: header) }
        let framing = framing
        writer.append(header) { framing.writeHeader(id: id, length: long.count, to: $0) }
        if let segment = writer.complete() {
            appendFull(OutboundSegment(segment.buffer, long: long, messageCount: segment.messageCount))
        }
        return header + long.count
    }

    @inline(never)
    private mutating func makeSpace(for size: Int) {
        // Beyond the limit every message is checked; one that was admitted gets its space regardless.
        if let segment = writer.makeSpace(for: size, allowance: limit - byteCount) { appendFull(segment) }
    }

    private mutating func appendFull(_ segment: OutboundSegment) {
        fullByteCount += segment.byteCount
        fullMessageCount += segment.messageCount
        full.append(segment)
    }

    /// Whether there is a segment to take.
    ///
    /// - Parameter held: elements whose `latest` values are held back.
    @inline(__always)
    func hasSegment(holding held: IdentifierSet) -> Bool {
        !full.isEmpty || writer.messageCount > 0 || latest.hasValue(except: held)
    }

    /// The next segment to write, oldest first; `latest` values follow when nothing else is queued.
    ///
    /// - Parameter held: elements whose `latest` values are held back.
    @inline(__always)
    mutating func takeSegment(holding held: IdentifierSet = IdentifierSet()) -> OutboundSegment? {
        if full.isEmpty, writer.messageCount == 0, !latest.isEmpty { queueLatest(except: held) }
        if let segment = full.popFirst() {
            fullByteCount -= segment.byteCount
            fullMessageCount -= segment.messageCount
            takenMessageCount += UInt64(segment.messageCount)
            return segment
        }
        guard let segment = writer.take() else { return nil }
        takenMessageCount += UInt64(segment.messageCount)
        return segment
    }

    /// Copies all that is queued out of the queue, if that is little.
    ///
    /// - Returns: `nil` if ``takeSegment(holding:)`` has to be used, or nothing is queued.
    @inline(__always)
    mutating func move(to destination: UnsafeMutableRawBufferPointer) -> (byteCount: Int, messageCount: Int)? {
        guard full.isEmpty, latest.isEmpty, let moved = writer.move(to: destination) else { return nil }
        takenMessageCount += UInt64(moved.messageCount)
        return moved
    }

    /// Recycles the storage of a written segment, if more is queued.
    mutating func reuse(_ buffer: ByteBuffer) {
        if messageCount > 0 { writer.reuse(buffer) }
    }
}

/// The values of `latest` elements.
extension OutboundQueue {
    /// Sets the latest value of a `latest` element.
    ///
    /// - Returns: whether it replaced an unsent one.
    mutating func setLatest(_ id: Int8, _ bytes: UnsafeRawBufferPointer) -> Bool { latest.set(id, bytes) }

    /// Removes and returns the unsent values.
    mutating func takeLatest() -> LatestValues {
        var values = LatestValues(headerByteCount: header)
        swap(&values, &latest)
        return values
    }

    /// Removes and returns a value of more than `length` bytes whose element is not held back.
    mutating func takeLatest(longerThan length: Int, holding held: IdentifierSet) -> (id: Int8, bytes: [UInt8])? {
        latest.isEmpty ? nil : latest.removeFirst(longerThan: length, except: held)
    }

    /// Moves the values behind what is queued.
    private mutating func queueLatest(except held: IdentifierSet) {
        var values = takeLatest()
        values.removeAll(except: held) { append(id: $0, $1) }
        latest = values
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

    /// Bytes that are sent together: a message that would not fit starts a new segment.
    ///
    /// A datagram made of several messages fits an Ethernet frame over IPv6 with room to spare, so that batching never
    /// causes fragmentation; a longer message is sent alone.
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

/// The unsent values of `latest` elements, one per element, in the order in which the elements were first set. They
/// wait in a queue until nothing else is to be sent or, without a connection, for a replacement.
struct LatestValues {
    private struct Entry {
        let id: Int8
        var bytes: [UInt8]
    }

    private var entries: [Entry] = []
    /// Bytes of the values, including their envelopes.
    private(set) var byteCount = 0
    private let headerByteCount: Int

    /// - Parameter headerByteCount: the bytes of an envelope.
    init(headerByteCount: Int) { self.headerByteCount = headerByteCount }

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    /// Whether there is a value of an element that is not held back.
    @inline(__always)
    func hasValue(except held: IdentifierSet) -> Bool {
        !entries.isEmpty && entries.contains { !held.contains($0.id) }
    }

    /// Sets an element's latest value. One of the same length as the unsent one reuses its storage.
    ///
    /// - Returns: whether it replaced an unsent one.
    mutating func set(_ id: Int8, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let position = entries.firstIndex(where: { $0.id == id }) else {
            entries.append(Entry(id: id, bytes: Array(bytes)))
            byteCount += headerByteCount + bytes.count
            return false
        }
        let oldLength = entries[position].bytes.count
        if oldLength == bytes.count {
            entries[position].bytes.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
        } else {
            entries[position].bytes = Array(bytes)
            byteCount += bytes.count - oldLength
        }
        return true
    }

    /// Removes the values, except those of elements that are held back, and passes each to `body`.
    mutating func removeAll(
        except held: IdentifierSet = IdentifierSet(), _ body: (Int8, UnsafeRawBufferPointer) -> Void
    ) {
        var removedByteCount = 0
        entries.removeAll { entry in
            guard !held.contains(entry.id) else { return false }
            removedByteCount += headerByteCount + entry.bytes.count
            entry.bytes.withUnsafeBytes { body(entry.id, $0) }
            return true
        }
        byteCount -= removedByteCount
    }

    /// Removes and returns the first value of more than `length` bytes whose element is not held back.
    mutating func removeFirst(longerThan length: Int, except held: IdentifierSet) -> (id: Int8, bytes: [UInt8])? {
        let position = entries.firstIndex { $0.bytes.count > length && !held.contains($0.id) }
        guard let position else { return nil }
        let entry = entries.remove(at: position)
        byteCount -= headerByteCount + entry.bytes.count
        return (entry.id, entry.bytes)
    }
}

/// A set of elements' identifiers, 0...127, as plain bits.
struct IdentifierSet {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    @inline(__always)
    func contains(_ id: Int8) -> Bool {
        (id < 64 ? low : high) & Self.bit(id) != 0
    }

    mutating func insert(_ id: Int8) {
        if id < 64 { low |= Self.bit(id) } else { high |= Self.bit(id) }
    }

    mutating func remove(_ id: Int8) {
        if id < 64 { low &= ~Self.bit(id) } else { high &= ~Self.bit(id) }
    }

    mutating func formUnion(_ other: IdentifierSet) {
        low |= other.low
        high |= other.high
    }

    @inline(__always)
    private static func bit(_ id: Int8) -> UInt64 { 1 << UInt64(id & 63) }
}
