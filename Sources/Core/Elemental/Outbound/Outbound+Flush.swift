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
