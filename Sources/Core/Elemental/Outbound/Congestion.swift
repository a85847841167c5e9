import ElementalWire
import Synchronization

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
            if outbound.pieces.byteCount >= outbound.readyByteCount { pieces.store(true, ordering: .relaxed) }
        case .udp:
            if outbound.datagrams.byteCount >= outbound.readyByteCount { stream.store(true, ordering: .relaxed) }
        }
    }

    func set(stream isStream: Bool, pieces isPieces: Bool) {
        stream.store(isStream, ordering: .relaxed)
        pieces.store(isPieces, ordering: .relaxed)
    }
}
