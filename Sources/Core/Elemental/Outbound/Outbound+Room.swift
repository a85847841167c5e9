import ElementalWire

/// Senders that wait for room, and when there is some.
extension Outbound {
    /// Bytes that wait for the transport of which more do.
    private var level: Int {
        @inline(__always) get { max(stream.byteCount, datagrams.byteCount) }
    }

    /// Whether the queues are below the low watermark, so that senders that wait go on.
    var isBelowLowWatermark: Bool { level <= readyByteCount / 8 }
    var isBelowLowPieceWatermark: Bool { pieces.byteCount <= readyByteCount / 8 }

    /// What a sender waits for with a value of `length` bytes.
    ///
    /// - Parameter id: its element, or `nil` for any.
    func need(for length: Int, of id: Int8?) -> RoomNeed {
        let inPieces = id.map { goesInPieces($0, length) } ?? (peer.pieces && length > Piece.wholeByteCount)
        return inPieces ? .pieceRoom(length) : .room(length)
    }

    /// Whether a sender may go on that waits for that. Where it says so, there is room for the value by the same rule
    /// by which it is admitted, so that a sender that goes on is not sent back at once.
    func isMet(_ need: RoomNeed) -> Bool {
        switch need {
        case .room(let length):
            isBelowLowWatermark && stream.hasRoom(for: length) && datagrams.hasRoom(for: length)
        case .pieceRoom(let length):
            isBelowLowPieceWatermark && pieces.hasRoom(for: length, limit: stream.limit)
        case .nothingUnsent:
            !isStreamUnsent && (pieces.isAcknowledged || !canReceiveAcks) && !hasDatagrams
        }
    }

    /// Takes out the senders that may go on.
    ///
    /// - Parameter congestion: is told whether others, or those who come, have to wait.
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
