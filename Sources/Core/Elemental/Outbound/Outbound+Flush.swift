import ElementalWire
import NIOCore
import Synchronization

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// What is written next, and when. The owner writes on one thread, while others queue values.
extension Outbound {
    /// The number of messages in one flush from which on it counts as a burst.
    private static var pouringMessageCount: Int { 256 }

    /// Records that the stream has something to flush.
    ///
    /// - Returns: the connection to wake, if needed.
    @inline(__always)
    mutating func wakeForStream() -> Link? {
        let isFull = stream.byteCount >= gatheringByteCount
        return stream.flush.queued(isFull: isFull) ? link : nil
    }

    /// The same for datagrams, which are sent while the stream is blocked, and are not batched.
    @inline(__always)
    mutating func wakeForDatagrams() -> Link? {
        datagrams.flush.queued(isFull: true) ? link : nil
    }

    /// Whether something may be queued that the owner could write now.
    var isFlushDue: Bool {
        stream.flush == .scheduled || stream.flush == .gathering || datagrams.flush == .scheduled
    }

    /// The owner's next step for the stream.
    ///
    /// A flush that wrote many messages in a row leaves a remainder of less than a segment and starts batching.
    /// - Parameters:
    ///   - written: messages that this flush has written.
    ///   - spare: the storage of the last segment, which is recycled.
    mutating func nextStreamStep(written: Int, spare: ByteBuffer? = nil) -> StreamStep {
        if let spare { stream.reuse(spare) }
        guard stream.flush != .blocked, stream.flush != .direct else { return .wait }
        if stream.restMessageCount != nil { return step(stream.takeSegment()) }
        if peer.pieces { takeLargeLatest() }
        if hasPiece, isPieceNext || !stream.hasSegment(holding: pieces?.elements) {
            isPieceNext = false
            return step(pieces?.takeSegment())
        }
        if written >= Self.pouringMessageCount, stream.byteCount < gatheringByteCount, !hasPieces {
            stream.flush = .gathering
            return .gather
        }
        isPieceNext = true
        return step(stream.takeSegment(holding: pieces?.elements))
    }

    private mutating func step(_ segment: OutboundSegment?) -> StreamStep {
        guard let segment else {
            stream.flush = .idle
            return .wait
        }
        stream.flush = .scheduled
        return .write(segment, isMoreQueued: stream.hasSegment(holding: pieces?.elements) || hasPiece)
    }

    /// Whether a piece may be sent now.
    private var hasPiece: Bool {
        pieces?.hasSegment(after: stream.takenMessageCount, canReceiveAcks: canReceiveAcks) == true
    }

    /// Whether the peer's acknowledgements of pieces can be received: not while the device is paused or its connection
    /// is ending.
    var canReceiveAcks: Bool {
        @inline(__always) get { !isPaused && !isEnding }
    }

    /// The peer acknowledges pieces: more of them may be sent, and somebody may wait for that.
    ///
    /// - Returns: see ``PieceQueue/acknowledge(_:)``.
    mutating func acknowledge(_ count: UInt32) -> [PieceAssembler.Progress]? {
        stream.flush.schedule()
        guard pieces != nil else { return count == 0 ? [] : nil }
        return pieces?.acknowledge(count)
    }

    /// Moves large values of `latest` elements to the piece queue, behind what is queued before them.
    private mutating func takeLargeLatest() {
        while let (id, value) = stream.takeLatest(longerThan: Envelope.wholeByteCount, holding: pieces?.elements) {
            appendPieces(id, Data(value))
        }
    }

    /// The next datagram; one that the system had no room for is the first.
    mutating func nextDatagram() -> OutboundSegment? {
        guard datagrams.flush != .blocked, datagrams.flush != .direct else { return nil }
        let segment = datagrams.takeSegment()
        datagrams.flush = segment == nil ? .idle : .scheduled
        return segment
    }

    /// The system had no room for a datagram: the owner calls ``FlushState/unblock()`` when it retries.
    mutating func returnDatagram(_ segment: OutboundSegment) {
        datagrams.putBack(segment)
        datagrams.flush = .blocked
    }

    /// Whether part of the stream is unsent: queued, or taken and not written.
    var isStreamUnsent: Bool {
        @inline(__always) get { stream.flush != .idle || !stream.isEmpty || hasPieces }
    }

    /// The work that is left.
    @inline(__always)
    mutating func findPendingWork() -> PendingWork {
        var work: PendingWork = []
        if isStreamUnsent { work.insert(.stream) }
        if !datagrams.isEmpty { work.insert(.datagrams) }
        if isBelowLowWatermark || isBelowLowPieceWatermark { work.insert(.room) }
        if !waiters.isEmpty { work.insert(.waiters) }
        return work
    }

    /// Bytes in the fuller of the two transports' queues.
    private var level: Int {
        @inline(__always) get { max(stream.byteCount, datagrams.byteCount) }
    }

    /// Whether the queues are below the low watermark, so that waiting senders resume.
    var isBelowLowWatermark: Bool { level <= readyByteCount / 8 }
    var isBelowLowPieceWatermark: Bool { (pieces?.byteCount ?? 0) <= readyByteCount / 8 }
}

/// Values that are written by the thread that queued them.
extension Outbound {
    /// Claims the transport of a value for which ``append(_:_:)`` has just returned the link: not the stream while large values
    /// are under way, which would wait if the system suspends the thread before it has written.
    ///
    /// - Returns: the claim's number; `nil` if the loop has to write the value.
    mutating func claim(_ transport: Transport) -> UInt64? {
        switch transport {
        case .tcp: hasPieces ? nil : stream.claim()
        case .udp: datagrams.claim()
        }
    }

    /// The segment that the thread writes, of the stream all that is queued; `nil` if the loop has to write it instead.
    mutating func takeDirectly(_ claim: UInt64, over transport: Transport) -> OutboundSegment? {
        guard isOpen else { return nil }
        return switch transport {
        case .tcp: hasPieces ? nil : stream.takeClaimed(claim, atMost: Self.maximumDirectByteCount)
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
        case .tcp: stream.giveBack(claim, segment, mayIdle: mayIdle && !hasPieces)
        case .udp: datagrams.giveBack(claim, segment, mayIdle: mayIdle)
        }
    }

    /// The largest segment of the stream, in bytes, that is written this way: more is copied by the loop's thread.
    private static var maximumDirectByteCount: Int { 16 * 1024 }
}

/// The next step of the stream's writer.
enum StreamStep {
    /// Write a segment, and whether another follows immediately.
    case write(OutboundSegment, isMoreQueued: Bool)
    /// Flush a little later: values are being batched.
    case gather
    /// Nothing: nothing is queued, or the socket is full, or what is queued has to wait for the peer.
    case wait
}

/// The work that a flush leaves.
struct PendingWork: OptionSet {
    let rawValue: UInt8
    /// Part of the stream is unsent.
    static let stream = PendingWork(rawValue: 1)
    /// Datagrams are queued.
    static let datagrams = PendingWork(rawValue: 2)
    /// There is room for waiting senders.
    static let room = PendingWork(rawValue: 4)
    /// Senders are waiting.
    static let waiters = PendingWork(rawValue: 8)
}

/// Whether the queues are above the high watermark, so that senders that can wait should: updated by a send that fills
/// a queue, and by the flush that drains it, each under the lock of the queues; read without it.
struct Congestion: ~Copyable, Sendable {
    private let stream = Atomic(false)
    private let pieces = Atomic(false)

    /// Whether values that are sent whole should wait.
    var isStream: Bool { stream.load(ordering: .relaxed) }
    /// Whether values that are sent in pieces should wait.
    var isPieces: Bool { pieces.load(ordering: .relaxed) }
    var isAny: Bool { isStream || isPieces }

    /// Records that a sender waits for this need.
    func set(_ need: RoomNeed) {
        switch need {
        case .room: stream.store(true, ordering: .relaxed)
        case .pieceRoom: pieces.store(true, ordering: .relaxed)
        case .nothingUnsent: break
        }
    }

    /// Records whether a queue that a value was added to is above the high watermark.
    ///
    /// - Parameter transport: the value's. The other transport's queue is not checked: when a value is sent to many
    ///   devices, what counts is how much of each has to be fetched from memory.
    @inline(__always)
    func note<Link>(_ outbound: borrowing Outbound<Link>, after transport: Transport) {
        switch transport {
        case .tcp:
            if outbound.stream.byteCount >= outbound.readyByteCount { stream.store(true, ordering: .relaxed) }
            if let byteCount = outbound.pieces?.byteCount, byteCount >= outbound.readyByteCount {
                pieces.store(true, ordering: .relaxed)
            }
        case .udp:
            if outbound.datagrams.byteCount >= outbound.readyByteCount { stream.store(true, ordering: .relaxed) }
        }
    }

    func set(stream isStream: Bool, pieces isPieces: Bool) {
        stream.store(isStream, ordering: .relaxed)
        pieces.store(isPieces, ordering: .relaxed)
    }
}
