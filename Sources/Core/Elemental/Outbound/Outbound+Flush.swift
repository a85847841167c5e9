import ElementalWire
import NIOCore
import Synchronization

/// Decides what is written next, and when. The owner writes on one thread, while others queue values.
extension Outbound {
    private static var batchingThreshold: Int { 256 }

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

    var isFlushDue: Bool {
        stream.flush == .scheduled || stream.flush == .gathering || datagrams.flush == .scheduled
    }

    /// A flush that wrote many messages in a row leaves a remainder of less than a segment and starts batching.
    ///
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
        if written >= Self.batchingThreshold, stream.byteCount < gatheringByteCount, !hasPieces {
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

    private var hasPiece: Bool {
        pieces?.hasSegment(after: stream.takenMessageCount, canReceiveAcks: canReceiveAcks) == true
    }

    /// A device that is paused, or whose connection is ending, receives none.
    var canReceiveAcks: Bool {
        @inline(__always) get { !isPaused && !isEnding }
    }

    /// - Returns: see ``PieceQueue/acknowledge(_:)``.
    mutating func acknowledge(_ count: UInt32) -> [PieceAssembler.Progress]? {
        stream.flush.schedule()
        guard pieces != nil else { return count == 0 ? [] : nil }
        return pieces?.acknowledge(count)
    }

    private mutating func takeLargeLatest() {
        while let (id, value) = stream.takeLatest(longerThan: Envelope.wholeByteCount, holding: pieces?.elements) {
            if id < 0 { value.withUnsafeBytes { appendPieces($0) } } else { appendPieces(id, Data(value)) }
        }
    }

    /// Takes the next datagram. One that the system had no room for comes first.
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

    var isStreamUnsent: Bool {
        @inline(__always) get { stream.flush != .idle || !stream.isEmpty || hasPieces }
    }

    @inline(__always)
    mutating func findPendingWork() -> PendingWork {
        var work: PendingWork = []
        if isStreamUnsent { work.insert(.stream) }
        if !datagrams.isEmpty { work.insert(.datagrams) }
        if isBelowLowWatermark || isBelowLowPieceWatermark { work.insert(.room) }
        if !waiters.isEmpty { work.insert(.waiters) }
        return work
    }

    private var level: Int {
        @inline(__always) get { max(stream.byteCount, datagrams.byteCount) }
    }

    var isBelowLowWatermark: Bool { level <= readyByteCount / 8 }
    var isBelowLowPieceWatermark: Bool { (pieces?.byteCount ?? 0) <= readyByteCount / 8 }
}

/// Values that are written by the thread that queued them.
extension Outbound {
    /// Claims a queue for the calling thread. The stream cannot be claimed while large values are being sent: they
    /// would wait if the system suspended the thread before it has written.
    ///
    /// - Returns: the claim's number; `nil` if the loop has to write the value.
    mutating func claim(_ transport: Transport) -> UInt64? {
        transport == .tcp && hasPieces ? nil : self[transport].claim()
    }

    /// - Returns: all that is queued on the stream, or the next datagram; `nil` if the loop has to write it instead.
    mutating func takeDirectly(_ claim: UInt64, over transport: Transport) -> OutboundSegment? {
        guard isOpen, transport == .udp || !hasPieces else { return nil }
        return self[transport].takeClaimed(claim, atMost: transport == .udp ? .max : Self.maximumDirectByteCount)
    }

    /// - Returns: whether the loop has to flush: more is queued, or tasks wait for room or for the end.
    mutating func endDirectWrite(_ claim: UInt64, _ segment: OutboundSegment?, over transport: Transport) -> Bool {
        let mayIdle = waiters.isEmpty && isOpen && (transport == .udp || !hasPieces)
        return self[transport].giveBack(claim, segment, mayIdle: mayIdle)
    }

    /// If more bytes than these are queued, the loop's thread does the copying.
    private static var maximumDirectByteCount: Int { 16 * 1024 }
}

enum StreamStep {
    case write(OutboundSegment, isMoreQueued: Bool)
    case gather
    /// Nothing is queued, or the socket is full, or what is queued has to wait for the peer.
    case wait
}

struct PendingWork: OptionSet {
    let rawValue: UInt8
    static let stream = PendingWork(rawValue: 1)
    static let datagrams = PendingWork(rawValue: 2)
    static let room = PendingWork(rawValue: 4)
    static let waiters = PendingWork(rawValue: 8)
}

/// Whether the queues are above the high watermark, so that senders that can wait should. A send that fills a queue and
/// the flush that drains it update this under the lock of the queues; it is read without the lock.
struct Congestion: ~Copyable, Sendable {
    private let stream = Atomic(false)
    private let pieces = Atomic(false)

    var isStream: Bool { stream.load(ordering: .relaxed) }
    var isPieces: Bool { pieces.load(ordering: .relaxed) }
    var isAny: Bool { isStream || isPieces }

    func set(_ need: RoomNeed) {
        switch need {
        case .room: stream.store(true, ordering: .relaxed)
        case .pieceRoom: pieces.store(true, ordering: .relaxed)
        case .nothingUnsent: break
        }
    }

    /// Checks only this transport's queue: when a value is sent to many devices, the cost is the memory that has to be
    /// fetched for each.
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
