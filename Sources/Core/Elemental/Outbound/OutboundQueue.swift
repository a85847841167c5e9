import DequeModule
import ElementalWire
import NIOCore

/// The messages to be sent over one transport, batched into segments, and the progress of writing them. A segment is
/// the content of one write, or of one datagram.
///
/// Memory is bounded by the limit; `latest` elements keep one unsent value each.
///
/// Unchecked: its pointers point into its own buffer. No other code has this buffer until the segment is complete, and
/// its storage does not move until then. Copies share the storage, so a queue that holds messages is only mutated in
/// place.
struct OutboundQueue: @unchecked Sendable {
    private(set) var framing: MessageFraming
    let limit: Int
    private let header: Int
    private var full: Deque<OutboundSegment> = []
    private var fullByteCount = 0
    private var fullMessageCount = 0
    /// How many of the queued messages are the system's own, and not values.
    private var fullSystemCount = 0
    private var openSystemCount = 0
    private var latest: LatestValues?
    /// Messages taken since the connection began.
    private(set) var takenMessageCount: UInt64 = 0

    // The segment being filled: the bytes between the start of the buffer and the cursor.
    private var buffer: ByteBuffer?
    private var openMessageCount = 0
    private var start = Self.nowhere
    private var cursor = Self.nowhere
    /// A message may be written up to here without a further check: the end of the segment, or of what the limit allows.
    private var end = Self.nowhere
    /// A message may be written up to here without any decision; not beyond ``end``.
    private var clearEnd = Self.nowhere
    private var recycled: ByteBuffer?
    private var nextCapacity = Self.firstCapacity

    /// Whether queueing a value must wake the connection.
    var flush = FlushState.idle {
        didSet { endClearSpace() }
    }
    /// A segment that was taken and not written completely: it goes first.
    private var rest: OutboundSegment?
    /// The last thread that claimed the queue (``claim()``), and the values that it took.
    private var lastClaim: UInt64 = 0
    private(set) var claimedValueCount = 0
    /// Bytes that threads with a claim have written.
    private(set) var directByteCount = 0

    /// The values of `latest` elements that are kept for a replacement connection.
    var kept: LatestValues

    /// The storage of an idle connection, in bytes; a busy one soon gets whole segments.
    private static let firstCapacity = 256
    /// Storage of up to this many bytes is kept however little it is used.
    private static let keptByteCount = 1024
    private static var nowhere: UnsafeMutableRawPointer { UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped }

    init(_ framing: MessageFraming, limit: Int) {
        self.framing = framing
        self.limit = limit
        header = framing.headerByteCount
        kept = LatestValues(headerByteCount: header)
    }

    private var openByteCount: Int {
        @inline(__always) get { cursor - start }
    }
    /// Queued bytes, including envelopes.
    var byteCount: Int {
        @inline(__always) get { fullByteCount + openByteCount + (latest?.byteCount ?? 0) }
    }
    /// Values that are not written: queued, or taken.
    var unwrittenValueCount: Int {
        messageCount - fullSystemCount - openSystemCount + claimedValueCount + (rest?.valueCount ?? 0)
    }
    var messageCount: Int { fullMessageCount + openMessageCount + (latest?.count ?? 0) }

    var isEmpty: Bool {
        @inline(__always) get { openMessageCount == 0 && fullMessageCount == 0 && latest == nil && rest == nil }
    }

    /// The number of messages that are taken before a message added now, including those taken already.
    var queuedMessageCount: UInt64 { takenMessageCount + UInt64(fullMessageCount + openMessageCount) }

    /// Whether a message of `length` value bytes may be added. An empty queue accepts any.
    @inline(__always)
    func hasRoom(for length: Int) -> Bool {
        hasSpace(for: header + length) || byteCount == 0 || byteCount + header + length <= limit
    }

    /// Forgets all but the kept values, and all claims, whose numbers are not used again.
    mutating func restart(_ framing: MessageFraming? = nil) {
        var new = OutboundQueue(framing ?? self.framing, limit: limit)
        (new.kept, new.lastClaim, new.directByteCount) = (kept, lastClaim, directByteCount)
        self = new
    }
}

extension OutboundQueue {
    @inline(__always)
    private func hasSpace(for size: Int) -> Bool { end - cursor >= size }

    @inline(__always)
    func hasClearSpace(for length: Int) -> Bool { clearEnd - cursor >= header + length }

    /// Lets this many bytes, including envelopes, be added without a decision, as far as the segment has space.
    mutating func clear(_ byteCount: Int) { clearEnd = min(end, cursor + max(0, byteCount)) }

    /// Makes every message need a decision again.
    @inline(__always)
    mutating func endClearSpace() { clearEnd = start }

    /// Adds a message, for which the caller has checked for room. Returns its bytes, including the envelope.
    @discardableResult
    @inline(__always)
    mutating func append(id: Int8, _ bytes: UnsafeRawBufferPointer) -> Int {
        let size = header + bytes.count
        if !hasSpace(for: size) { makeSpace(for: size) }
        framing.writeHeader(id: id, length: bytes.count, to: cursor)
        bytes.copy(to: cursor + header)
        cursor += size
        openMessageCount += 1
        return size
    }

    /// The same for a message of the system.
    mutating func appendSystem(_ element: SystemElement, _ bytes: UnsafeRawBufferPointer) {
        append(id: element.rawValue, bytes)
        openSystemCount += 1
    }

    /// The same as ``append(id:_:)`` without copying the value into the queue.
    @discardableResult
    mutating func append(id: Int8, long: Data) -> Int {
        if !hasSpace(for: header) { makeSpace(for: header) }
        framing.writeHeader(id: id, length: long.count, to: cursor)
        cursor += header
        openMessageCount += 1
        if let segment = complete() {
            appendFull(
                OutboundSegment(
                    segment.buffer, long: long, messageCount: segment.messageCount, systemCount: segment.systemCount))
        }
        return header + long.count
    }

    /// Makes space for a message of `size` bytes, which begins a segment if it does not fit the one being filled.
    @inline(never)
    private mutating func makeSpace(for size: Int) {
        // Beyond the limit every message is checked; one that was admitted gets its space regardless.
        let allowance = limit - byteCount
        let segmentByteCount = framing.segmentByteCount
        if buffer == nil || openByteCount + size > segmentByteCount {
            if let segment = complete() { appendFull(segment) }
            // Taken, not copied: clearing keeps the storage only if it is uniquely referenced.
            buffer = recycled.take()
            buffer?.clear()
        }
        var buffer = self.buffer.take() ?? ByteBuffer()
        let written = openByteCount
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
    }

    /// Takes out the segment being filled, with its storage.
    private mutating func complete() -> OutboundSegment? {
        guard openMessageCount > 0, var buffer = buffer.take() else { return nil }
        buffer.moveWriterIndex(forwardBy: openByteCount)
        let segment = OutboundSegment(buffer, messageCount: openMessageCount, systemCount: openSystemCount)
        cursor = start
        end = start
        openMessageCount = 0
        openSystemCount = 0
        endClearSpace()
        return segment
    }

    private mutating func appendFull(_ segment: OutboundSegment) {
        fullByteCount += segment.byteCount
        fullMessageCount += segment.messageCount
        fullSystemCount += segment.systemCount
        full.append(segment)
    }

    /// - Returns: whether it replaced an unsent one.
    mutating func setLatest(_ id: Int8, as wireID: Int8? = nil, _ bytes: UnsafeRawBufferPointer) -> Bool {
        var values = takeLatest()
        defer { latest = values }
        return values.set(id, as: wireID, bytes)
    }

    mutating func takeLatest() -> LatestValues {
        latest.take() ?? LatestValues(headerByteCount: header)
    }

    mutating func takeKept() -> LatestValues {
        var values = LatestValues(headerByteCount: header)
        swap(&values, &kept)
        return values
    }

    /// Removes and returns a value of more than `length` bytes whose element is not held back.
    mutating func takeLatest(longerThan length: Int, holding held: IdentifierSet?) -> (id: Int8, bytes: [UInt8])? {
        let value = latest?.removeFirst(longerThan: length, except: held)
        if latest?.isEmpty == true { latest = nil }
        return value ?? nil
    }
}

/// Taking segments, on the thread that writes.
extension OutboundQueue {
    /// - Parameter held: elements whose `latest` values are held back.
    @inline(__always)
    func hasSegment(holding held: IdentifierSet? = nil) -> Bool {
        rest != nil || !full.isEmpty || openMessageCount > 0 || latest?.hasValue(except: held) == true
    }

    /// Takes the oldest segment; `latest` values follow when nothing else is queued.
    @inline(__always)
    mutating func takeSegment(holding held: IdentifierSet? = nil) -> OutboundSegment? {
        if let segment = rest.take() { return segment }
        if full.isEmpty, openMessageCount == 0, latest != nil { queueLatest(except: held) }
        guard let segment = full.popFirst() else { return takeOpen() }
        fullByteCount -= segment.byteCount
        fullMessageCount -= segment.messageCount
        fullSystemCount -= segment.systemCount
        takenMessageCount += UInt64(segment.messageCount)
        return segment
    }

    /// Takes out the segment being filled; its storage is used again once the write has released it.
    private mutating func takeOpen() -> OutboundSegment? {
        guard let segment = complete() else { return nil }
        takenMessageCount += UInt64(segment.messageCount)
        let buffer = segment.buffer
        // Storage much larger than its content is freed, so that an idle connection is small.
        let isFilled = buffer.readableBytes * 4 >= buffer.capacity && buffer.capacity <= 2 * framing.segmentByteCount
        if isFilled || buffer.capacity <= Self.keptByteCount {
            recycled = buffer
        } else {
            recycled = nil
            nextCapacity = Self.firstCapacity
        }
        return segment
    }

    private mutating func queueLatest(except held: IdentifierSet?) {
        var values = takeLatest()
        values.removeAll(except: held) { append(id: $0, $1) }
        latest = values.isEmpty ? nil : values
    }

    mutating func putBack(_ segment: OutboundSegment) { rest = segment }

    var restMessageCount: Int? { rest?.messageCount }

    /// Recycles the storage of a whole segment that was written, if more is queued: memory that is returned to the system and
    /// allocated again has to be cleared.
    mutating func reuse(_ buffer: ByteBuffer) {
        if messageCount > 0, recycled == nil, buffer.capacity == framing.segmentByteCount { recycled = buffer }
    }
}

/// Values that are written by the thread that queued them, which saves waking the event loop.
///
/// The thread claims the queue while it holds the lock, and gives it back when it has written: the event loop writes nothing of
/// the same transport in between.
extension OutboundQueue {
    mutating func claim() -> UInt64 {
        flush = .direct
        lastClaim += 1
        return lastClaim
    }

    /// Whether the claim still holds: not if the connection has ended since.
    private func holds(_ claim: UInt64) -> Bool { flush == .direct && claim == lastClaim }

    /// - Returns: `nil` if the claim no longer holds, or more than `most` bytes are queued.
    mutating func takeClaimed(_ claim: UInt64, atMost most: Int = .max) -> OutboundSegment? {
        guard holds(claim), byteCount <= most, let segment = takeSegment() else { return nil }
        claimedValueCount = segment.valueCount
        return segment
    }

    /// - Parameters:
    ///   - segment: the segment that the thread took; the socket may have accepted a part of it.
    ///   - mayIdle: whether no flush is needed if nothing is left.
    /// - Returns: whether the loop has to flush.
    mutating func giveBack(_ claim: UInt64, _ segment: OutboundSegment?, mayIdle: Bool) -> Bool {
        guard holds(claim) else { return false }
        claimedValueCount = 0
        if let segment {
            directByteCount &+= segment.writtenByteCount
            if !segment.isComplete { rest = segment }
        }
        flush = mayIdle && isEmpty ? .idle : .scheduled
        return flush == .scheduled
    }
}

enum FlushState {
    /// No flush is pending: the next value wakes the connection.
    case idle
    /// A flush is scheduled or running, and will include what is queued meanwhile.
    case scheduled
    /// Values arrive at a high rate: a flush follows a little later, or as soon as a segment is full. Writing the
    /// values as they arrive would cost a system call for every few.
    case gathering
    /// The socket is full: a flush follows when it is writable.
    case blocked
    /// The thread that queued a value writes it. It schedules a flush if there is more.
    case direct

    /// - Returns: whether the connection must be woken.
    @inline(__always)
    mutating func queued(isFull: Bool) -> Bool {
        switch self {
        case .scheduled, .blocked, .direct: return false
        case .idle: break
        case .gathering: guard isFull else { return false }
        }
        self = .scheduled
        return true
    }

    /// The owner flushes without being woken.
    mutating func schedule() {
        if self != .blocked, self != .direct { self = .scheduled }
    }

    mutating func unblock() {
        if self == .blocked { self = .scheduled }
    }
}
