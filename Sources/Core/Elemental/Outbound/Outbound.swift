import ElementalWire

/// A device's outbound side: the queues, the check that admits values to them, and the choice of what is written next.
/// It has no socket, no thread and no lock. Its owner guards it with a lock, appends from any thread, and takes what is
/// to be written on the event loop; calls that queue something return the link to wake, if needed.
struct Outbound<Link> {
    enum Phase {
        /// No connection has been ready yet.
        case unready
        case open(Link)
        /// The connection was lost, and a replacement will follow: the values of `latest` elements are kept for it.
        case away(DisconnectReason)
        case ended(DisconnectReason)
    }

    enum DatagramState {
        case open(udpIdentifier: UInt8)
        case unavailable(String)
    }

    var phase = Phase.unready {
        didSet {
            switch phase {
            case .unready: (isOpen, isEnding) = (false, false)
            case .open: (isOpen, isEnding) = (true, false)
            case .away, .ended: (isOpen, isEnding) = (false, true)
            }
            stream.endClearSpace()
        }
    }
    // The phase, cached: to inspect an enum with a payload, the compiler copies all of this struct (measured).
    private(set) var isOpen = false
    private(set) var isEnding = false
    var isPaused = false
    var peer = PeerAbilities()
    var datagramState = DatagramState.unavailable("the connection is not set up yet")

    var datagramOverhead = 0

    var stream: OutboundQueue
    /// Values that are sent in pieces, if the peer accepts those; `nil` until there is one.
    var pieces: PieceQueue? {
        didSet { stream.endClearSpace() }
    }
    var datagrams: OutboundQueue
    /// Whether datagrams could be sent before the connection was lost, so that their values are worth keeping.
    var keepsDatagrams = false

    /// Whether a piece is next even if a segment of the stream is queued too.
    var isPieceNext = false

    var waiters: [UInt64: RoomWaiter] = [:]
    var lastWaiter: UInt64 = 0
    var counts = OutboundCounts()

    /// The high watermark of each queue, in bytes: from there on, senders that can wait do.
    let readyByteCount: Int
    /// Bytes that are worth a flush while values are batched: a segment, or less where the limits are tight, so that
    /// batching never fills the queue.
    let gatheringByteCount: Int

    init(limit: Int, readyByteCount: Int) {
        self.readyByteCount = min(readyByteCount, limit)
        stream = OutboundQueue(.stream, limit: limit)
        datagrams = OutboundQueue(.datagram(udpIdentifier: 0), limit: limit)
        gatheringByteCount = min(MessageFraming.stream.segmentByteCount, self.readyByteCount / 4)
    }

    var link: Link? {
        guard case .open(let link) = phase else { return nil }
        return link
    }

    var isAway: Bool {
        guard case .away = phase else { return false }
        return true
    }

    subscript(transport: Transport) -> OutboundQueue {
        _read {
            switch transport {
            case .tcp: yield stream
            case .udp: yield datagrams
            }
        }
        _modify {
            switch transport {
            case .tcp: yield &stream
            case .udp: yield &datagrams
            }
        }
    }

    var hasPieces: Bool {
        @inline(__always) get { pieces?.isEmpty == false }
    }

    var messagesWaiting: Int {
        stream.unwrittenValueCount + datagrams.unwrittenValueCount + (pieces?.valueCount ?? 0)
    }
    var keptCount: Int { stream.kept.count + datagrams.kept.count }
    var messagesUnsent: Int { counts.messagesLost + messagesWaiting + keptCount }
}

extension Outbound {
    /// Queues a value if there is nothing to decide: it travels over TCP, the connection is open, a flush will follow,
    /// and the queue stays below all thresholds. This holds for most values of a burst, as an earlier one established.
    @inline(__always)
    mutating func appendClear(_ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard stream.hasClearSpace(for: bytes.count), element.transport == .tcp, !element.latest, !element.timed,
            !bytes.isEmpty, !peer.lacks(element.id)
        else { return false }
        counts.addMessage(stream.append(id: element.id, bytes))
        return true
    }

    /// Finds how many bytes may follow on the stream without a decision. Every state that this depends on calls
    /// ``OutboundQueue/endClearSpace()`` when it changes.
    @inline(never)
    private mutating func clearStream() {
        guard isOpen, !hasPieces, stream.flush != .idle else { return }
        let threshold = stream.flush == .gathering ? min(gatheringByteCount, readyByteCount) : readyByteCount
        stream.clear(threshold - 1 - stream.byteCount)
    }

    /// - Returns: the connection to wake, if needed.
    @inline(__always)
    mutating func append(
        _ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer
    ) throws(SendRefusal) -> Link? {
        let route = try admit(element.id, over: element.transport, isLatest: element.latest, length: bytes.count)
        switch route {
        case .stream:
            counts.addMessage(stream.append(id: element.id, bytes))
            let link = wakeForStream()
            // Not after the first of several values: it is often the only one.
            if link == nil { clearStream() }
            return link
        case .datagrams:
            counts.addMessage(datagrams.append(id: element.id, bytes))
            return wakeForDatagrams()
        case .pieces, .latest, .kept:
            return appendElsewhere(element, bytes, route)
        }
    }

    @inline(never)
    private mutating func appendElsewhere(
        _ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer, _ route: Route
    ) -> Link? {
        counts.addMessage(self[element.transport].framing.headerByteCount + bytes.count)
        let isReplaced: Bool
        switch route {
        case .kept: isReplaced = self[element.transport].kept.set(element.id, bytes)
        case .latest: isReplaced = self[element.transport].setLatest(element.id, bytes)
        default:
            appendPieces(element.id, Data(bytes))
            isReplaced = false
        }
        if isReplaced { counts.messagesReplaced += 1 }
        guard route != .kept else { return nil }
        return element.transport == .tcp ? wakeForStream() : wakeForDatagrams()
    }

    /// Queues a value without copying it. Its element uses TCP and is not `latest`.
    ///
    /// - Parameter time: when it was measured, of a timed element.
    mutating func append(
        _ element: ElementDefinition, long: Data, at time: MeasurementTime? = nil
    ) throws(SendRefusal) -> Link? {
        let route = try admit(element.id, over: .tcp, isLatest: false, length: long.count)
        if let time { appendTime(time, of: element.id, inPieces: route == .pieces) }
        if route == .pieces {
            appendPieces(element.id, long)
            counts.addMessage(Envelope.streamByteCount + long.count)
        } else {
            counts.addMessage(stream.append(id: element.id, long: long))
        }
        return wakeForStream()
    }

    /// Queues a value that is sent in pieces, after what is queued now.
    mutating func appendPieces(_ id: Int8, _ value: Data) {
        let start = stream.queuedMessageCount
        if pieces == nil { pieces = PieceQueue() }
        pieces?.append(id, value, after: start)
    }

    /// Queues a value that a service set earlier, exempt from limits and statistics; the owner makes sure that a flush follows.
    mutating func appendCurrent(_ id: Int8, _ bytes: UnsafeRawBufferPointer) {
        stream.append(id: id, bytes)
        stream.flush.schedule()
    }

    /// The same without copying it.
    ///
    /// - Parameter time: when it was measured, of a timed element.
    mutating func appendCurrent(_ id: Int8, long: Data, at time: MeasurementTime? = nil) {
        stream.flush.schedule()
        let inPieces = goesInPieces(id, long.count)
        if let time { appendTime(time, of: id, inPieces: inPieces) }
        if inPieces {
            appendPieces(id, long)
        } else {
            stream.append(id: id, long: long)
        }
    }
}

/// Whether a value may be sent, and by which route: decided only here.
extension Outbound {
    enum Route {
        /// Over TCP, whole.
        case stream
        /// Over TCP, in pieces, or behind a value of the same element in pieces.
        case pieces
        case datagrams
        case latest
        /// Like `latest`, but kept until there is a connection.
        case kept
    }

    /// `mutating` although it changes nothing: otherwise the compiler copies everything that any branch reads, 40
    /// instructions for each value.
    @inline(__always)
    mutating func admit(
        _ id: Int8, over transport: Transport, isLatest: Bool, length: Int
    ) throws(SendRefusal) -> Route {
        let isKept = try admitAnything(isLatest: isLatest)
        if peer.lacks(id) { throw peer.isRestricted ? .withheld : .unknownElement }
        if length == 0, !peer.emptyValues { throw .emptyValue }
        switch transport {
        case .tcp:
            if length > Envelope.maximumValueByteCount { throw .valueTooLarge }
            if isLatest { return isKept ? .kept : .latest }
            if goesInPieces(id, length) {
                if let pieces, !pieces.hasRoom(for: length, limit: stream.limit) {
                    throw Self.queueFull(pieces.byteCount, stream.limit)
                }
                return .pieces
            }
            if !stream.hasRoom(for: length) { throw Self.queueFull(stream.byteCount, stream.limit) }
            return .stream
        case .udp:
            if case .unavailable(let reason) = datagramState, !(isKept && keepsDatagrams) {
                throw .udpUnavailable(reason)
            }
            let limit = Envelope.maximumDatagramValueByteCount - datagramOverhead
            if length > limit { throw .datagramTooLarge(limit: limit) }
            if isLatest { return isKept ? .kept : .latest }
            if !datagrams.hasRoom(for: length) { throw Self.queueFull(datagrams.byteCount, datagrams.limit) }
            return .datagrams
        }
    }

    /// - Returns: whether the value of a `latest` element is to be kept until there is a connection.
    @inline(__always)
    func admitAnything(isLatest: Bool = false) throws(SendRefusal) -> Bool {
        isOpen ? false : try Self.admitAnything(phase, isLatest)
    }

    // Takes only the properties that it reads: given `self`, the compiler copied it for every value (measured).
    @inline(never)
    private static func admitAnything(_ phase: Phase, _ isLatest: Bool) throws(SendRefusal) -> Bool {
        switch phase {
        case .open: return false
        case .away(let reason):
            if !isLatest { throw .reconnecting(reason) }
            return true
        case .unready: throw .notConnected
        case .ended(let reason): throw .ended(reason)
        }
    }

    @inline(never)
    private static func queueFull(_ waiting: Int, _ limit: Int) -> SendRefusal {
        .queueFull(waiting: waiting, limit: limit)
    }

    /// Whether a value is sent in pieces, or has to stay behind a value of its element in pieces.
    @inline(__always)
    func goesInPieces(_ id: Int8, _ length: Int) -> Bool {
        length > Envelope.wholeByteCount ? peer.pieces : pieces?.elements.contains(id) == true
    }
}

/// The peer's abilities, as its hello announced them.
struct PeerAbilities {
    var emptyValues = false
    var pieces = false
    var timedValues = false
    /// Elements that the peer does not have, or that the client's role may not read; `nil` if there are none.
    private(set) var missingElements: IdentifierSet?
    /// Whether they are missing because of the client's role.
    private(set) var isRestricted = false

    @inline(__always)
    func lacks(_ id: Int8) -> Bool { missingElements?.contains(id) == true }

    mutating func leaveOut(_ elements: IdentifierSet) { missingElements = elements.isEmpty ? nil : elements }

    mutating func withhold(_ elements: IdentifierSet) {
        var missing = elements
        if let missingElements { missing.formUnion(missingElements) }
        leaveOut(missing)
        isRestricted = true
    }

    mutating func forgetHello() {
        emptyValues = false
        pieces = false
        timedValues = false
        if !isRestricted { missingElements = nil }
    }
}

struct OutboundCounts {
    /// Includes values that were replaced or lost since.
    var messagesSent = 0
    /// Includes the envelopes.
    var bytesSent = 0
    var messagesReplaced = 0
    /// Values that were queued when a connection ended, and those kept for a replacement that never opened.
    var messagesLost = 0

    @inline(__always)
    mutating func addMessage(_ byteCount: Int) {
        messagesSent += 1
        bytesSent += byteCount
    }
}
