import ElementalWire

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// A device's way out, guarded by its lock: the queues and what decides whether a value may enter them.
struct Outbound {
    /// Why datagrams cannot be sent.
    enum DatagramState {
        case open
        case unavailable(String)
    }

    /// What became of a value that was to be queued.
    enum Admission {
        /// It is queued, and a flush is on its way.
        case queued
        /// It is queued, and the connection is to be woken.
        case first
        /// It is not queued; ``Outbound/refusal(of:length:)`` says why.
        case refused
    }

    /// What is left to do after a segment was taken.
    struct Rest: OptionSet {
        let rawValue: UInt8
        /// Something waits in the stream.
        static let stream = Rest(rawValue: 1)
        /// Datagrams wait.
        static let datagrams = Rest(rawValue: 2)
        /// There is room for those who wait for it.
        static let room = Rest(rawValue: 4)
        /// Another segment of the stream may be taken now.
        static let segment = Rest(rawValue: 8)
        /// Somebody waits.
        static let waiters = Rest(rawValue: 16)
    }

    /// `nil` before the connection is ready and after its end.
    var connection: Connection?
    /// Why the connection ends or has ended.
    var endReason: DisconnectReason?
    /// Whether the connection was lost and another is to take its place.
    var isAway = false
    /// Whether the device reads nothing, kept by its pauses.
    var isPaused = false
    /// What waits for that.
    var kept = KeptValues()
    /// Whether datagrams could be sent before, so that their values are worth keeping.
    var keepsDatagrams = false
    var stream: OutboundQueue
    var datagrams: OutboundQueue
    /// One that found the system's buffer full.
    var unsentDatagram: OutboundQueue.Segment?
    /// Values that go in pieces, where the peer takes them.
    var large = LargeQueue()
    var takesPieces = false
    /// Whether a piece is next where a segment of the stream waits too.
    private var isLargesTurn = false
    /// Bytes in one of the queues from which on those who can wait do.
    let readyByteCount: Int
    var datagramState = DatagramState.unavailable("the connection is not set up yet")
    /// Whether a flush of that queue is on its way, so that none needs to be asked for. Apart, so that datagrams leave
    /// while the stream is blocked.
    var isStreamFlushScheduled = false
    var isDatagramFlushScheduled = false
    /// While a stream of values pours in, a flush comes a little later, or when so many bytes wait; 0 otherwise. Writing
    /// them as they come would be a system call for a few.
    private(set) var gatheredByteCount = 0
    var takesEmptyValues = false
    /// What is wrong with using an element on this connection, by identifier; mostly empty.
    var misfits: [Int8: ElementalError] = [:]
    /// Those who wait for room.
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0

    var messagesSent = 0
    var bytesSent = 0
    var messagesReplaced = 0
    var messagesLost = 0

    init(_ limits: DeviceLimits) {
        let limit = limits.maximumQueueByteCount
        readyByteCount = min(limits.readyQueueByteCount, limit)
        stream = OutboundQueue(.stream, limit: limit)
        datagrams = OutboundQueue(.datagram(udpIdentifier: 0), limit: limit)
    }

    /// Values that wait in the queues.
    var messagesWaiting: Int {
        stream.messageCount + datagrams.messageCount + large.messageCount + (unsentDatagram?.messageCount ?? 0)
    }
    var messagesUnsent: Int { messagesLost + messagesWaiting + kept.count }

    /// Whether a value of so many bytes goes in pieces.
    func isLarge(_ length: Int) -> Bool { takesPieces && length > Piece.wholeByteCount }

    /// Queues a long value if it may be; it goes over TCP and is no `latest` one.
    mutating func append(_ element: ElementDefinition, long: Data) -> Admission {
        guard connection != nil, misfits[element.id] == nil, long.count > 0 || takesEmptyValues else { return .refused }
        if goesInPieces(element.id, long.count) { return appendLarge(element.id, long) }
        guard stream.hasRoom(for: long.count) else { return .refused }
        bytesSent += stream.append(id: element.id, long: long)
        messagesSent += 1
        return needsFlush(of: .tcp) ? .first : .queued
    }

    /// Queues a value if it may be.
    @inline(__always)
    mutating func append(
        _ element: ElementDefinition, length: Int, write: (UnsafeMutableRawPointer) -> Void
    ) -> Admission {
        guard connection != nil, misfits.isEmpty || misfits[element.id] == nil, length > 0 || takesEmptyValues else {
            return keep(element, length: length, write: write)
        }
        let size: Int
        switch element.transport {
        case .tcp:
            if goesInPieces(element.id, length), !element.latest {
                return appendLarge(element.id, length: length, write: write)
            }
            size = Self.append(element, length: length, to: &stream, replaced: &messagesReplaced, write)
        case .udp:
            guard case .open = datagramState, length <= Envelope.maximumDatagramValueByteCount else { return .refused }
            size = Self.append(element, length: length, to: &datagrams, replaced: &messagesReplaced, write)
        }
        guard size > 0 else { return .refused }
        bytesSent += size
        messagesSent += 1
        return needsFlush(of: element.transport) ? .first : .queued
    }

    /// - Returns: the bytes that the message takes with its envelope, or 0 if there is no room for it.
    @inline(__always)
    private static func append(
        _ element: ElementDefinition, length: Int, to queue: inout OutboundQueue, replaced: inout Int,
        _ write: (UnsafeMutableRawPointer) -> Void
    ) -> Int {
        if element.latest {
            if queue.replace(id: element.id, length: length, write: write) { replaced += 1 }
            return Envelope.streamByteCount + length
        }
        guard queue.hasRoom(for: length) else { return 0 }
        return queue.append(id: element.id, length: length, write: write)
    }

    /// Whether a value goes in pieces, or has to stay behind one of its element that does.
    @inline(__always)
    func goesInPieces(_ id: Int8, _ length: Int) -> Bool {
        length > Piece.wholeByteCount ? takesPieces : large.elements.contains(id)
    }

    @inline(never)
    private mutating func appendLarge(
        _ id: Int8, length: Int, write: (UnsafeMutableRawPointer) -> Void
    ) -> Admission {
        guard large.hasRoom(for: length, limit: stream.limit) else { return .refused }
        var value = Data(count: length)
        value.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { write(base) }
        }
        return appendLarge(id, value)
    }

    private mutating func appendLarge(_ id: Int8, _ value: Data) -> Admission {
        guard large.hasRoom(for: value.count, limit: stream.limit) else { return .refused }
        large.append(id, value, behind: stream)
        bytesSent += Envelope.streamByteCount + value.count
        messagesSent += 1
        return needsFlush(of: .tcp) ? .first : .queued
    }

    /// Queues a value that a service has set before, which no limit holds back and no statistics count.
    mutating func appendCurrent(_ id: Int8, _ value: CurrentValues.Value) {
        switch value {
        case .bytes(let bytes):
            stream.append(id: id, length: bytes.count) { destination in
                bytes.withUnsafeBytes { bytes in
                    guard let base = bytes.baseAddress else { return }
                    destination.copyMemory(from: base, byteCount: bytes.count)
                }
            }
        case .long(let data):
            if isLarge(data.count) {
                large.append(id, data, behind: stream)
            } else {
                _ = stream.append(id: id, long: data)
            }
        }
    }

    /// Notes that a flush is asked for.
    ///
    /// - Returns: whether this is the first to ask.
    @inline(__always)
    mutating func needsFlush(of transport: Transport) -> Bool {
        switch transport {
        case .tcp:
            defer { isStreamFlushScheduled = true }
            guard isStreamFlushScheduled else { return true }
            guard gatheredByteCount > 0, stream.byteCount >= gatheredByteCount else { return false }
            gatheredByteCount = 0
            return true
        case .udp:
            defer { isDatagramFlushScheduled = true }
            return !isDatagramFlushScheduled
        }
    }

    /// The next segment of the stream, or `nil` if there is none, or none yet: a flush that wrote many messages in a row
    /// leaves what is less than a segment and begins to gather.
    ///
    /// - Parameter written: messages that this flush has written.
    mutating func takeSegment(written: Int) -> OutboundQueue.Segment? {
        gatheredByteCount = 0
        if takesPieces { takeLargeLatest() }
        let segment: OutboundQueue.Segment?
        if hasPiece, isLargesTurn || !stream.hasSegment(holding: large.elements) {
            isLargesTurn = false
            segment = large.takeSegment()
        } else if written >= Self.pouringMessageCount, stream.byteCount < gatheringByteCount, large.isEmpty {
            gatheredByteCount = gatheringByteCount
            isStreamFlushScheduled = true
            return nil
        } else {
            isLargesTurn = true
            segment = stream.takeSegment(holding: large.elements)
        }
        isStreamFlushScheduled = segment != nil
        return segment
    }

    /// Whether a piece may be sent now.
    private var hasPiece: Bool { large.hasSegment(after: stream.takenMessageCount, hearsPeer: hearsPeer) }

    /// Whether the peer's word that it has taken pieces is heard: neither is the device paused, nor does its connection end.
    var hearsPeer: Bool { !isPaused && endReason == nil }

    /// Whether datagrams wait.
    var hasDatagrams: Bool { unsentDatagram != nil || !datagrams.isEmpty }

    /// The next datagram; the one that found no room is the first.
    mutating func takeDatagram() -> OutboundQueue.Segment? {
        if let segment = unsentDatagram.take() { return segment }
        isDatagramFlushScheduled = false
        return datagrams.takeSegment()
    }

    /// A large value of a `latest` element is on its way once nothing waits before it.
    private mutating func takeLargeLatest() {
        while let (id, value) = stream.takeLatest(longerThan: Piece.wholeByteCount, holding: large.elements) {
            large.append(id, Data(value), behind: stream)
        }
    }

    /// A segment; less where the queue's limits are tight, so that gathering never fills it.
    private var gatheringByteCount: Int { min(OutboundQueue.streamSegmentByteCount, readyByteCount / 4) }

    /// Messages in one flush from which on it looks as if more pour in.
    private static let pouringMessageCount = 256

    /// Queues a frame of the system, which no limit holds back.
    mutating func appendSystem(
        _ element: SystemElement, over transport: Transport = .tcp, _ bytes: UnsafeRawBufferPointer
    ) {
        func copy(to destination: UnsafeMutableRawPointer) {
            guard let base = bytes.baseAddress else { return }
            destination.copyMemory(from: base, byteCount: bytes.count)
        }
        switch transport {
        case .tcp where element == .shutdown:
            // The peer hears nothing of what comes after it.
            queueLatest()
            if large.isEmpty {
                stream.append(id: element.rawValue, length: bytes.count, write: copy)
            } else {
                large.append(element.rawValue, Data(bytes), behind: stream)
            }
        case .tcp:
            stream.append(id: element.rawValue, length: bytes.count, write: copy)
            // The hello goes before the first piece.
            isLargesTurn = false
        case .udp: datagrams.append(id: element.rawValue, length: bytes.count, write: copy)
        }
    }

    /// Puts the `latest` values, which otherwise leave when nothing else waits, behind what waits now.
    private mutating func queueLatest() {
        for (id, value) in stream.takeLatest() {
            if goesInPieces(id, value.count) {
                large.append(id, Data(value), behind: stream)
            } else {
                appendCurrent(id, .bytes(value))
            }
        }
    }

    /// Empties the queues of a connection that is gone.
    ///
    /// - Parameter unwritten: messages that were being written, and are lost as those in the queues are; `nil` if the
    ///   connection was never ready, so that none was the user's.
    mutating func discardQueues(unwritten: Int?) {
        if let unwritten { messagesLost += unwritten + messagesWaiting }
        large = LargeQueue()
        unsentDatagram = nil
        isLargesTurn = false
        stream = OutboundQueue(.stream, limit: stream.limit)
        datagrams = OutboundQueue(.datagram(udpIdentifier: 0), limit: datagrams.limit)
        if case .open = datagramState { datagramState = .unavailable("the connection has ended") }
        isStreamFlushScheduled = false
        isDatagramFlushScheduled = false
        gatheredByteCount = 0
    }

    /// What is left to do.
    var rest: Rest {
        var rest: Rest = []
        if !stream.isEmpty || !large.isEmpty { rest.insert(.stream) }
        if stream.hasSegment(holding: large.elements) || hasPiece { rest.insert(.segment) }
        if hasDatagrams { rest.insert(.datagrams) }
        if hasPlenty || hasLargePlenty { rest.insert(.room) }
        if !waiters.isEmpty { rest.insert(.waiters) }
        return rest
    }
}
