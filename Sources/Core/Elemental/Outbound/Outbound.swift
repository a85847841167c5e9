import ElementalWire

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// A device's outbound side: the queues, the check that admits values to them, and the choice of what is written next.
///
/// It has no socket, no thread and no lock. Its owner guards it with a lock, appends from any thread, and takes what is
/// to be written on the event loop; calls that queue something return the link to wake, if needed.
///
/// `Link` is the owner's handle to the connection.
struct Outbound<Link> {
    /// The state of the connection.
    enum Phase {
        /// No connection has been ready yet.
        case unready
        /// Values can be sent.
        case open(Link)
        /// The connection was lost, and a replacement will follow: the values of `latest` elements are kept for it.
        case away(DisconnectReason)
        /// The connection is ending or has ended.
        case ended(DisconnectReason)
    }

    /// Whether datagrams can be sent.
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
    // The phase, cached. To inspect an enum with a payload, the compiler copies all of this struct (measured).
    /// Whether values can be sent.
    private(set) var isOpen = false
    /// Whether the connection is ending or has ended.
    private(set) var isEnding = false
    /// Whether the device does not read because it is paused.
    var isPaused = false
    var peer = PeerAbilities()
    var datagramState = DatagramState.unavailable("the connection is not set up yet")

    /// Bytes that are added to each datagram.
    var datagramOverhead = 0

    /// Values that are sent whole over TCP.
    var stream: OutboundQueue
    /// Values that are sent in pieces, if the peer accepts those.
    var pieces = PieceQueue() {
        didSet { stream.endClearSpace() }
    }
    var datagrams: OutboundQueue
    /// Whether datagrams could be sent before the connection was lost, so that their values are worth keeping.
    var keepsDatagrams = false

    /// Whether a piece is next even if a segment of the stream is queued too.
    var isPieceNext = false

    /// Senders that wait for room.
    var waiters: [UInt64: RoomWaiter] = [:]
    var lastWaiter: UInt64 = 0
    var counts = OutboundCounts()

    /// The high watermark: bytes in one of the queues from which on senders that can wait do.
    let readyByteCount: Int
    /// Bytes that are worth a flush while values are batched: a segment, or less where the limits are tight, so that
    /// batching never fills the queue.
    let gatheringByteCount: Int

    /// - Parameters:
    ///   - limit: the maximum number of bytes in each queue.
    ///   - readyByteCount: the high watermark of each queue, in bytes.
    init(limit: Int, readyByteCount: Int) {
        self.readyByteCount = min(readyByteCount, limit)
        stream = OutboundQueue(.stream, limit: limit)
        datagrams = OutboundQueue(.datagram(udpIdentifier: 0), limit: limit)
        gatheringByteCount = min(MessageFraming.stream.segmentByteCount, self.readyByteCount / 4)
    }

    /// The handle to the connection; `nil` before it is ready and after its end.
    var link: Link? {
        guard case .open(let link) = phase else { return nil }
        return link
    }

    /// Whether the connection was lost and a replacement will follow.
    var isAway: Bool {
        guard case .away = phase else { return false }
        return true
    }

    /// Values in the queues.
    var messagesWaiting: Int { stream.unwrittenMessageCount + datagrams.unwrittenMessageCount + pieces.messageCount }
    /// Values kept for a replacement connection.
    var keptCount: Int { stream.kept.count + datagrams.kept.count }
    var messagesUnsent: Int { counts.messagesLost + messagesWaiting + keptCount }
}

/// Queueing values.
extension Outbound {
    /// Queues a value if there is nothing to decide: it travels over TCP, the connection is open, a flush will follow, and
    /// the queue stays below all thresholds. So it is for most values of a burst, and that was found out with an earlier one.
    ///
    /// - Returns: whether it is queued; otherwise ``append(_:_:)`` decides.
    @inline(__always)
    mutating func appendClear(_ element: ElementDefinition, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard stream.hasClearSpace(for: bytes.count), element.transport == .tcp, !element.latest, !bytes.isEmpty,
            !peer.missingElements.contains(element.id)
        else { return false }
        counts.addMessage(stream.append(id: element.id, bytes))
        return true
    }

    /// Finds how many bytes may follow on the stream with nothing to decide. Whatever that depends on ends it when it changes.
    @inline(never)
    private mutating func clearStream() {
        guard isOpen, pieces.isEmpty, stream.flush != .idle else { return }
        let threshold = stream.flush == .gathering ? min(gatheringByteCount, readyByteCount) : readyByteCount
        stream.clear(threshold - 1 - stream.byteCount)
    }

    /// Queues a value.
    ///
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
            // The first of several is often the only one.
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
        let headerByteCount = element.transport == .udp ? Envelope.datagramByteCount : Envelope.streamByteCount
        counts.addMessage(headerByteCount + bytes.count)
        let isReplaced: Bool
        switch (route, element.transport) {
        case (.kept, .tcp): isReplaced = stream.kept.set(element.id, bytes)
        case (.kept, .udp): isReplaced = datagrams.kept.set(element.id, bytes)
        case (.latest, .tcp): isReplaced = stream.setLatest(element.id, bytes)
        case (.latest, .udp): isReplaced = datagrams.setLatest(element.id, bytes)
        default:
            pieces.append(element.id, Data(bytes), after: stream.queuedMessageCount)
            isReplaced = false
        }
        if isReplaced { counts.messagesReplaced += 1 }
        guard route != .kept else { return nil }
        return element.transport == .tcp ? wakeForStream() : wakeForDatagrams()
    }

    /// Queues a value that is not copied into the queue. Its element uses TCP and is not `latest`.
    ///
    /// - Returns: the connection to wake, if needed.
    mutating func append(_ element: ElementDefinition, long: Data) throws(SendRefusal) -> Link? {
        if case .pieces = try admit(element.id, over: .tcp, isLatest: false, length: long.count) {
            pieces.append(element.id, long, after: stream.queuedMessageCount)
            counts.addMessage(Envelope.streamByteCount + long.count)
        } else {
            counts.addMessage(stream.append(id: element.id, long: long))
        }
        return wakeForStream()
    }

    /// Queues a value that a service set earlier, exempt from limits and statistics; the owner makes sure that a flush follows.
    mutating func appendCurrent(_ id: Int8, _ bytes: UnsafeRawBufferPointer) {
        stream.append(id: id, bytes)
        stream.flush.schedule()
    }

    /// The same with a long one, which is not copied into the queue.
    mutating func appendCurrent(_ id: Int8, long: Data) {
        stream.flush.schedule()
        if peer.pieces, long.count > Piece.wholeByteCount {
            pieces.append(id, long, after: stream.queuedMessageCount)
        } else {
            stream.append(id: id, long: long)
        }
    }
}

/// Connections that open and close.
extension Outbound {
    /// A connection is ready, the first or a replacement: the kept values are queued. The owner makes sure that a flush follows.
    ///
    /// - Parameter hasHello: whether the peer has sent a hello; if not, what an earlier peer announced no longer
    ///   applies.
    mutating func open(_ link: Link, hasHello: Bool) {
        phase = .open(link)
        if !hasHello { peer.forgetHello() }
        var values = stream.takeKept()
        values.removeAll { requeue($0, over: .tcp, $1) }
        values = datagrams.takeKept()
        values.removeAll { requeue($0, over: .udp, $1) }
    }

    /// Queues a kept value, unless it cannot be sent to the current peer.
    private mutating func requeue(_ id: Int8, over transport: Transport, _ bytes: UnsafeRawBufferPointer) {
        do throws(SendRefusal) {
            _ = try admit(id, over: transport, isLatest: true, length: bytes.count)
            switch transport {
            case .tcp:
                _ = stream.setLatest(id, bytes)
                stream.flush.schedule()
            case .udp:
                _ = datagrams.setLatest(id, bytes)
                datagrams.flush.schedule()
            }
        } catch {
            counts.messagesLost += 1
        }
    }

    /// The connection is ending: nothing more enters the queues.
    ///
    /// - Parameter willReconnect: whether a replacement connection will follow. The unsent values of `latest` elements
    ///   then wait for it, since what is still sent now may never be read.
    mutating func close(_ reason: DisconnectReason, willReconnect: Bool) {
        guard case .open = phase else { return }
        guard willReconnect else { return phase = .ended(reason) }
        phase = .away(reason)
        if case .open = datagramState { keepsDatagrams = true } else { keepsDatagrams = false }
        stream.kept = stream.takeLatest()
        datagrams.kept = datagrams.takeLatest()
    }

    /// Empties the queues of a closed connection.
    ///
    /// - Parameter unwritten: messages that were being written, and are lost like those in the queues; `nil` if the
    ///   connection was never ready, so that none was the user's.
    mutating func discardQueues(unwritten: Int?) {
        if let unwritten { counts.messagesLost += unwritten + messagesWaiting }
        stream.restart()
        datagrams.restart()
        pieces = PieceQueue()
        isPieceNext = false
        if case .open = datagramState { datagramState = .unavailable("the connection has ended") }
    }

    /// The device has ended: the kept values are lost.
    mutating func end(_ reason: DisconnectReason) {
        phase = .ended(reason)
        counts.messagesLost += stream.takeKept().count + datagrams.takeKept().count
    }

    /// Enables or disables datagrams.
    mutating func setDatagramState(_ state: DatagramState) {
        if case .open(let identifier) = state, case .unavailable = datagramState {
            datagrams.restart(.datagram(udpIdentifier: identifier))
        }
        datagramState = state
    }
}

/// Values that are written by the thread that queued them.
extension Outbound {
    /// Claims the transport of a value for which ``append(_:_:)`` has just returned the link: not the stream while large values
    /// are under way, which would wait if the system suspends the thread before it has written.
    ///
    /// - Returns: the claim's number; `nil` if the loop has to write the value.
    mutating func claim(_ transport: Transport) -> UInt64? {
        switch transport {
        case .tcp: pieces.isEmpty ? stream.claim() : nil
        case .udp: datagrams.claim()
        }
    }

    /// The segment that the thread writes, of the stream all that is queued; `nil` if the loop has to write it instead.
    mutating func takeDirectly(_ claim: UInt64, over transport: Transport) -> OutboundSegment? {
        guard isOpen else { return nil }
        return switch transport {
        case .tcp: pieces.isEmpty ? stream.takeClaimed(claim, atMost: Self.maximumDirectByteCount) : nil
        case .udp: datagrams.takeClaimed(claim)
        }
    }

    /// The thread has written what the socket accepted.
    ///
    /// - Parameter segment: what it took; `nil` if it took nothing.
    /// - Returns: whether the loop has to flush: also to tell those who wait for the queue, or for the end of the connection.
    mutating func endDirectWrite(_ claim: UInt64, _ segment: OutboundSegment?, over transport: Transport) -> Bool {
        let mayIdle = waiters.isEmpty && isOpen
        return switch transport {
        case .tcp: stream.giveBack(claim, segment, mayIdle: mayIdle && pieces.isEmpty)
        case .udp: datagrams.giveBack(claim, segment, mayIdle: mayIdle)
        }
    }

    /// The largest segment of the stream, in bytes, that is written this way: more is copied by the loop's thread.
    private static var maximumDirectByteCount: Int { 16 * 1024 }
}

/// Messages and bytes sent.
struct OutboundCounts {
    /// Values that were queued, including those replaced and lost since.
    var messagesSent = 0
    /// Their bytes, including their envelopes.
    var bytesSent = 0
    /// Values of `latest` elements that a newer one replaced.
    var messagesReplaced = 0
    /// Values that were queued when a connection ended, and those kept for a replacement that never opened.
    var messagesLost = 0

    @inline(__always)
    mutating func addMessage(_ byteCount: Int) {
        messagesSent += 1
        bytesSent += byteCount
    }
}
