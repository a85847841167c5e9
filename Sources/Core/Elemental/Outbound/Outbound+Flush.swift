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
        if hasPiece, isPieceNext || !stream.hasSegment(holding: pieces.elements) {
            isPieceNext = false
            return step(pieces.takeSegment())
        }
        if written >= Self.pouringMessageCount, stream.byteCount < gatheringByteCount, pieces.isEmpty {
            stream.flush = .gathering
            return .gather
        }
        isPieceNext = true
        return step(stream.takeSegment(holding: pieces.elements))
    }

    private mutating func step(_ segment: OutboundSegment?) -> StreamStep {
        guard let segment else {
            stream.flush = .idle
            return .wait
        }
        stream.flush = .scheduled
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

    /// The peer acknowledges pieces: more of them may be sent, and somebody may wait for that.
    ///
    /// - Returns: see ``PieceQueue/acknowledge(_:)``.
    mutating func acknowledge(_ count: UInt32) -> [PieceAssembler.Progress]? {
        stream.flush.schedule()
        return pieces.acknowledge(count)
    }

    /// Moves large values of `latest` elements to the piece queue, behind what is queued before them.
    private mutating func takeLargeLatest() {
        while let (id, value) = stream.takeLatest(longerThan: Piece.wholeByteCount, holding: pieces.elements) {
            pieces.append(id, Data(value), after: stream.queuedMessageCount)
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
        @inline(__always) get { stream.flush != .idle || !stream.isEmpty || !pieces.isEmpty }
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
