import ElementalWire
import NIOCore

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
        return streamFlush.queued(isFull: isFull) ? link : nil
    }

    /// The same for datagrams, which are sent while the stream is blocked, and are not batched.
    @inline(__always)
    mutating func wakeForDatagrams() -> Link? {
        datagramFlush.queued(isFull: true) ? link : nil
    }

    /// Whether something may be queued that the owner could write now.
    var isFlushDue: Bool {
        streamFlush == .scheduled || streamFlush == .gathering || datagramFlush == .scheduled
    }

    /// The owner's next step for the stream.
    ///
    /// A flush that wrote many messages in a row leaves a remainder of less than a segment and starts batching.
    /// - Parameters:
    ///   - written: messages that this flush has written.
    ///   - spare: the storage of the last segment, which is recycled.
    mutating func nextStreamStep(written: Int, spare: ByteBuffer? = nil) -> StreamStep {
        if let spare { stream.reuse(spare) }
        guard streamFlush != .blocked, streamFlush != .direct else { return .wait }
        if let segment = direct.takeRest() {
            streamFlush = .scheduled
            return .write(segment, isMoreQueued: false)
        }
        if peer.pieces { takeLargeLatest() }
        if hasPiece, isPieceNext || !stream.hasSegment(holding: pieces.elements) {
            isPieceNext = false
            return step(pieces.takeSegment())
        }
        if written >= Self.pouringMessageCount, stream.byteCount < gatheringByteCount, pieces.isEmpty {
            streamFlush = .gathering
            return .gather
        }
        isPieceNext = true
        return step(stream.takeSegment(holding: pieces.elements))
    }

    /// Copies all that is queued for the stream out of the queue, if that is little: a segment with storage of its own would
    /// cost more.
    mutating func nextLittleStep(to destination: UnsafeMutableRawBufferPointer) -> LittleStep {
        guard streamFlush != .blocked, streamFlush != .direct, direct.stream.messageCount == 0, pieces.isEmpty else {
            return .segments
        }
        if let moved = stream.move(to: destination) {
            streamFlush = .scheduled
            isPieceNext = true
            return .write(byteCount: moved.byteCount, messageCount: moved.messageCount)
        }
        guard stream.isEmpty else { return .segments }
        streamFlush = .idle
        return .done(findPendingWork())
    }

    private mutating func step(_ segment: OutboundSegment?) -> StreamStep {
        guard let segment else {
            streamFlush = .idle
            return .wait
        }
        streamFlush = .scheduled
        return .write(segment, isMoreQueued: stream.hasSegment(holding: pieces.elements) || hasPiece)
    }

    /// Whether a piece may be sent now.
    private var hasPiece: Bool {
        pieces.hasSegment(after: stream.takenMessageCount, canReceiveAcks: canReceiveAcks)
    }

    /// Whether the peer's acknowledgements of pieces can be received: not while the device is paused or its connection
    /// is ending.
    var canReceiveAcks: Bool {
        @inline(__always) get { !isPaused && !isEnding }
    }

    /// Moves large values of `latest` elements to the piece queue, behind what is queued before them.
    private mutating func takeLargeLatest() {
        while let (id, value) = stream.takeLatest(longerThan: Piece.wholeByteCount, holding: pieces.elements) {
            pieces.append(id, Data(value), after: stream.queuedMessageCount)
        }
    }

    /// Whether datagrams are queued.
    var hasDatagrams: Bool {
        @inline(__always) get { unsentDatagram != nil || !datagrams.isEmpty }
    }

    /// The next datagram; one that the system had no room for is the first.
    mutating func nextDatagram() -> OutboundSegment? {
        guard datagramFlush != .blocked, datagramFlush != .direct else { return nil }
        let segment = unsentDatagram.take() ?? datagrams.takeSegment()
        datagramFlush = segment == nil ? .idle : .scheduled
        return segment
    }

    /// Copies the next datagram out of the queue, if all that is queued is little.
    mutating func nextLittleDatagram(to destination: UnsafeMutableRawBufferPointer) -> LittleStep {
        guard datagramFlush != .blocked, datagramFlush != .direct, unsentDatagram == nil else { return .segments }
        if let moved = datagrams.move(to: destination) {
            datagramFlush = .scheduled
            return .write(byteCount: moved.byteCount, messageCount: moved.messageCount)
        }
        guard datagrams.isEmpty else { return .segments }
        datagramFlush = .idle
        return .done(findPendingWork())
    }

    /// The system had no room for a datagram: the owner calls ``FlushState/unblock()`` when it retries.
    mutating func returnDatagram(_ segment: OutboundSegment) {
        unsentDatagram = segment
        datagramFlush = .blocked
    }

    /// Whether part of the stream is unsent: queued, or taken and not written.
    var isStreamUnsent: Bool {
        @inline(__always) get { streamFlush != .idle || !stream.isEmpty || !pieces.isEmpty }
    }

    /// The work that is left.
    @inline(__always)
    mutating func findPendingWork() -> PendingWork {
        var work: PendingWork = []
        if isStreamUnsent { work.insert(.stream) }
        if hasDatagrams { work.insert(.datagrams) }
        if isBelowLowWatermark || isBelowLowPieceWatermark { work.insert(.room) }
        if !waiters.isEmpty { work.insert(.waiters) }
        return work
    }
}

/// The flush state of a queue, which determines whether queueing a value must wake the connection.
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

    /// Records that something was queued.
    ///
    /// - Parameter isFull: whether enough is batched.
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

    /// The owner flushes without being woken, such as in the loop's next turn.
    mutating func schedule() {
        if self != .blocked, self != .direct { self = .scheduled }
    }

    /// The socket is writable: the owner flushes.
    mutating func unblock() {
        if self == .blocked { self = .scheduled }
    }
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

/// The next step of a writer for which little is queued, as most often: one value.
enum LittleStep {
    /// Write so many bytes, which were copied out of the queue.
    case write(byteCount: Int, messageCount: Int)
    /// Nothing is queued.
    case done(PendingWork)
    /// Segments have to be written instead, or it is not the writer's turn.
    case segments
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
