import NIOCore

/// What waits for the program, counted in two ways: the bytes of the messages, and the memory that holds them. A short
/// message may be a slice of a large piece from the network, all of which it keeps.
struct UndeliveredSize {
    /// One piece may be as large as the largest message, so a small limit does not hold for what the pieces take.
    private static var heldSurplus: Int { 64 << 20 }

    let limit: Int
    private var byteCount = 0
    private var held = 0
    private var lastPiece: UInt64?

    /// What one message counts for.
    struct Share {
        fileprivate let byteCount: Int
        fileprivate let held: Int
    }

    /// - Parameter limit: bytes of messages that may wait.
    init(limit: Int) { self.limit = limit }

    /// Counts a message.
    ///
    /// - Parameters:
    ///   - overhead: what it takes besides its bytes.
    ///   - piece: the number of the piece from the network that it ended in. Of one piece, only the first message counts
    ///     the memory: messages leave in their order.
    /// - Returns: what it counts for, until ``remove(_:)``; `nil` if too much waits already.
    mutating func add(_ bytes: ByteBuffer, overhead: Int, piece: UInt64) -> Share? {
        let share = Share(
            byteCount: bytes.readableBytes + overhead, held: piece == lastPiece ? 0 : bytes.storageCapacity)
        guard byteCount + share.byteCount <= limit, held + share.held <= 2 * limit + Self.heldSurplus
        else { return nil }
        byteCount += share.byteCount
        held += share.held
        lastPiece = piece
        return share
    }

    /// A message has left.
    mutating func remove(_ share: Share) {
        byteCount -= share.byteCount
        held -= share.held
    }
}
