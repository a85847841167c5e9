import ElementalWire
import Support
import Synchronization

/// Senders that wait for room, and when they resume.
extension Outbound {
    /// Bytes in the fuller of the two transports' queues.
    private var level: Int {
        @inline(__always) get { max(stream.byteCount, datagrams.byteCount) }
    }

    /// Whether the queues are below the low watermark, so that waiting senders resume.
    var isBelowLowWatermark: Bool { level <= readyByteCount / 8 }
    var isBelowLowPieceWatermark: Bool { pieces.byteCount <= readyByteCount / 8 }

    /// What the sender of a value of `length` bytes waits for.
    ///
    /// - Parameter id: its element, or `nil` for any.
    func need(for length: Int, of id: Int8?) -> RoomNeed {
        let inPieces = id.map { goesInPieces($0, length) } ?? (peer.pieces && length > Piece.wholeByteCount)
        return inPieces ? .pieceRoom(length) : .room(length)
    }

    /// Whether a sender that waits for this may resume. If so, there is room for the value by the same rule by which it
    /// is admitted, so that a resumed sender does not have to wait again immediately.
    func isMet(_ need: RoomNeed) -> Bool {
        switch need {
        case .room: isBelowLowWatermark && hasRoom(for: need)
        case .pieceRoom: isBelowLowPieceWatermark && hasRoom(for: need)
        case .nothingUnsent:
            !isStreamUnsent && (pieces.isAcknowledged || !canReceiveAcks)
                && datagrams.isEmpty && datagrams.flush != .direct
        }
    }

    /// Whether a sender of a value of `length` bytes has to wait before it sends to several devices: exactly then a wait
    /// for the same need does not return at once. Nobody waits for a connection that is ending.
    ///
    /// - Parameters:
    ///   - isCongested: whether a queue has been above the high watermark since it was last below the low one.
    ///   - id: the value's element, or `nil` for any.
    func needsToWait(isCongested: Bool, for length: Int, of id: Int8?) -> Bool {
        guard isOpen else { return false }
        let need = need(for: length, of: id)
        return isCongested ? !isMet(need) : !hasRoom(for: need)
    }

    private func hasRoom(for need: RoomNeed) -> Bool {
        switch need {
        case .room(let length): stream.hasRoom(for: length) && datagrams.hasRoom(for: length)
        case .pieceRoom(let length): pieces.hasRoom(for: length, limit: stream.limit)
        case .nothingUnsent: true
        }
    }

    /// Removes the senders that may resume.
    ///
    /// - Parameter congestion: updated with whether the remaining senders, or new ones, have to wait.
    mutating func takeWaiters(_ congestion: borrowing Congestion) -> [RoomWaiter] {
        var taken: [RoomWaiter] = []
        var left = (room: false, pieceRoom: false)
        for (token, waiter) in waiters {
            if isMet(waiter.need) {
                taken.append(waiter)
                waiters.removeValue(forKey: token)
            } else if case .room = waiter.need {
                left.room = true
            } else if case .pieceRoom = waiter.need {
                left.pieceRoom = true
            }
        }
        congestion.set(
            stream: !isBelowLowWatermark || left.room, pieces: !isBelowLowPieceWatermark || left.pieceRoom)
        return taken
    }
}

/// A waiting sender.
struct RoomWaiter {
    /// An error if the connection ends first.
    let outcome: Outcome<ElementalError?>
    let need: RoomNeed
}

/// What a sender waits for.
enum RoomNeed {
    /// Room for a value of that length, which is sent whole.
    case room(Int)
    /// Room for a value of that length, which is sent in pieces.
    case pieceRoom(Int)
    /// That everything has been sent.
    case nothingUnsent
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
