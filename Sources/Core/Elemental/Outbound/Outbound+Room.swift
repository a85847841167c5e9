import ElementalWire
import Support

/// Senders that wait for room, and when they resume.
extension Outbound {
    /// - Parameter id: the value's element, or `nil` for any.
    func need(for length: Int, of id: Int8?) -> RoomNeed {
        let inPieces = id.map { goesInPieces($0, length) } ?? (peer.pieces && length > Envelope.wholeByteCount)
        return inPieces ? .pieceRoom(length) : .room(length)
    }

    /// Applies the rule that admits values, so that a resumed sender does not have to wait again.
    func isMet(_ need: RoomNeed) -> Bool {
        switch need {
        case .room: isBelowLowWatermark && hasRoom(for: need)
        case .pieceRoom: isBelowLowPieceWatermark && hasRoom(for: need)
        case .nothingUnsent:
            !isStreamUnsent && (pieces?.isAcknowledged != false || !canReceiveAcks)
                && datagrams.isEmpty && datagrams.flush != .direct
        }
    }

    /// Whether a sender has to wait before it sends to several devices. This is so exactly when a wait for the same
    /// need does not return at once. A sender does not wait for a connection that is ending.
    ///
    /// - Parameter isCongested: whether a queue has been above the high watermark since it was last below the low one.
    func needsToWait(isCongested: Bool, for length: Int, of id: Int8?) -> Bool {
        guard isOpen else { return false }
        let need = need(for: length, of: id)
        return isCongested ? !isMet(need) : !hasRoom(for: need)
    }

    /// Whether there is room for a service's current value, for which no sender waits.
    func hasRoom(forCurrent length: Int) -> Bool {
        hasRoom(for: .pieceRoom(length)) && stream.hasRoom(for: length)
    }

    private func hasRoom(for need: RoomNeed) -> Bool {
        switch need {
        case .room(let length): stream.hasRoom(for: length) && datagrams.hasRoom(for: length)
        case .pieceRoom(let length): pieces?.hasRoom(for: length, limit: stream.limit) != false
        case .nothingUnsent: true
        }
    }

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

struct RoomWaiter {
    /// An error if the connection ends first.
    let outcome: Outcome<ElementalError?>
    let need: RoomNeed
}

enum RoomNeed {
    /// Room for a value of that length, which is sent whole.
    case room(Int)
    /// Room for a value of that length, which is sent in pieces.
    case pieceRoom(Int)
    case nothingUnsent
}
