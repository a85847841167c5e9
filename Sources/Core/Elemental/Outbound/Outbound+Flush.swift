import ElementalWire
import NIOCore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// What is written next, and when. The owner writes on one thread; values are queued meanwhile from others.
extension Outbound {
    /// Messages in one flush from which on it looks as if more pour in.
    private static var pouringMessageCount: Int { 256 }

    /// Notes that the stream has something to flush.
    ///
    /// - Returns: the connection to wake, if that is needed.
    @inline(__always)
    mutating func wakeForStream() -> Link? {
        let isFull = stream.byteCount >= gatheringByteCount
        return streamFlush.queued(isFull: isFull) ? link : nil
    }

    /// The same for datagrams, which leave while the stream is blocked, and are not gathered.
    @inline(__always)
    mutating func wakeForDatagrams() -> Link? {
        datagramFlush.queued(isFull: true) ? link : nil
    }

    /// What the owner does next with the stream.
    ///
    /// A flush that wrote many messages in a row leaves what is less than a segment and begins to gather.
    /// - Parameters:
    ///   - written: messages that this flush has written.
    ///   - spare: the storage of the last segment, which is given back.
    mutating func nextStreamStep(written: Int, spare: ByteBuffer? = nil) -> StreamStep {
        if let spare { stream.reuse(spare) }
        guard streamFlush != .blocked else { return .wait }
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

    /// Whether the peer's acknowledgements of pieces are read: not while the device is paused or its connection ends.
    var canReceiveAcks: Bool {
        @inline(__always) get { !isPaused && !isEnding }
    }

    /// A large value of a `latest` element is on its way once nothing waits before it.
    private mutating func takeLargeLatest() {
        while let (id, value) = stream.takeLatest(longerThan: Piece.wholeByteCount, holding: pieces.elements) {
            pieces.append(id, Data(value), after: stream.queuedMessageCount)
        }
    }

    /// Whether datagrams wait.
    var hasDatagrams: Bool {
        @inline(__always) get { unsentDatagram != nil || !datagrams.isEmpty }
    }

    /// The next datagram; the one that found no room is the first.
    mutating func nextDatagram() -> OutboundSegment? {
        guard datagramFlush != .blocked else { return nil }
        let segment = unsentDatagram.take() ?? datagrams.takeSegment()
        datagramFlush = segment == nil ? .idle : .scheduled
        return segment
    }

    /// The system had no room for a datagram: the owner calls ``FlushState/unblock()`` when it tries again.
    mutating func returnDatagram(_ segment: OutboundSegment) {
        unsentDatagram = segment
        datagramFlush = .blocked
    }

    /// Whether anything of the stream is unsent: queued, or taken and not written.
    var isStreamUnsent: Bool {
        @inline(__always) get { streamFlush != .idle || !stream.isEmpty || !pieces.isEmpty }
    }

    /// What is left to do.
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
