import ElementalWire

/// Those who wait for room, and when there is some.
extension Outbound {
    /// What someone waits for.
    enum Wish {
        /// That no more bytes wait than this among the values that are sent whole.
        case room(Int)
        /// That no more bytes wait than this among those that go in pieces.
        case largeRoom(Int)
        /// That nothing waits.
        case nothing
    }

    /// Someone who waits.
    struct Waiter {
        let continuation: CheckedContinuation<Void, any Error>
        let wish: Wish
    }

    /// Bytes that wait for the transport of which more do.
    private var level: Int {
        @inline(__always) get { max(stream.byteCount, datagrams.byteCount) }
    }

    /// Whether so little waits that those who wait for room may go on.
    var hasPlenty: Bool { level <= readyByteCount / 8 }

    /// Whether so much waits that those who can wait do.
    var isCongested: Bool {
        @inline(__always) get { level >= readyByteCount }
    }

    /// The same for the values that go in pieces.
    var isLargeCongested: Bool { large.byteCount >= readyByteCount }
    var hasLargePlenty: Bool { large.byteCount <= readyByteCount / 8 }

    /// What someone waits for with a value of `length` bytes.
    ///
    /// - Parameter id: its element, or `nil` for any.
    func wish(for length: Int, of id: Int8?) -> Wish {
        let level = max(0, min(readyByteCount / 8, stream.limit - length - Envelope.datagramByteCount))
        let inPieces = id.map { goesInPieces($0, length) } ?? isLarge(length)
        return inPieces ? .largeRoom(level) : .room(level)
    }

    /// Whether someone may go on who waits for that.
    func isFulfilled(_ wish: Wish) -> Bool {
        switch wish {
        case .room(let count): level <= count
        case .largeRoom(let count): large.byteCount <= count
        case .nothing:
            !isStreamFlushScheduled && stream.isEmpty && large.isEmpty && (large.isTaken || !hearsPeer) && !hasDatagrams
        }
    }

    /// Takes out those who may go on.
    ///
    /// - Returns: them, and whether others, or those who come, have to wait, by the kind of their values.
    mutating func takeWaiters() -> ([Waiter], isCongested: Bool, isLargeCongested: Bool) {
        var taken: [Waiter] = []
        var left = (room: false, largeRoom: false)
        for (token, waiter) in waiters {
            if isFulfilled(waiter.wish) {
                taken.append(waiter)
                waiters.removeValue(forKey: token)
            } else if case .room = waiter.wish {
                left.room = true
            } else if case .largeRoom = waiter.wish {
                left.largeRoom = true
            }
        }
        return (taken, !hasPlenty || left.room, !hasLargePlenty || left.largeRoom)
    }
}
