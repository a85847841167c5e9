import ElementalWire
import Synchronization

/// Whether senders that can wait should, before they send: set by a send that filled a queue, and by the flush that
/// emptied it, each under the lock of the queues; asked without it.
struct Congestion: ~Copyable, Sendable {
    private let stream = Atomic(false)
    private let pieces = Atomic(false)

    /// Whether values that are sent whole had better wait.
    var isStream: Bool { stream.load(ordering: .relaxed) }
    /// Whether values that go in pieces had better wait.
    var isPieces: Bool { pieces.load(ordering: .relaxed) }
    var isAny: Bool { isStream || isPieces }

    /// Notes that a sender waits for that.
    func set(_ need: RoomNeed) {
        switch need {
        case .room: stream.store(true, ordering: .relaxed)
        case .pieceRoom: pieces.store(true, ordering: .relaxed)
        case .nothingUnsent: break
        }
    }

    /// Notes whether a queue is full that a value was added to.
    ///
    /// - Parameter transport: the value's. The other transport's queue is not looked at: where a value goes to many
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
