import NIOCore

/// Counts what is received but not yet delivered, in two ways: the bytes of the messages, and the memory that holds
/// them. A short message may be a slice of a large network read and keeps all of that alive.
struct UndeliveredSize {
    /// A single read may be as large as the largest message, so the memory may exceed a small limit by this much.
    private static var heldSurplus: Int { 64 << 20 }

    let limit: Int
    private var byteCount = 0
    private var held = 0
    private var lastPiece: UInt64?

    /// What one message adds to the counts.
    struct Share {
        fileprivate let byteCount: Int
        fileprivate let held: Int
    }

    /// - Parameter limit: how many bytes of messages may be undelivered.
    init(limit: Int) { self.limit = limit }

    /// Counts a message.
    ///
    /// - Parameters:
    ///   - overhead: bytes that a message takes besides its own.
    ///   - piece: the number of the network read in which it ended. Only the first message of a read counts its memory,
    ///     since messages are delivered in order.
    /// - Returns: what ``remove(_:)`` takes when the message is delivered; `nil` if the limit is reached.
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

    /// A message was delivered.
    mutating func remove(_ share: Share) {
        byteCount -= share.byteCount
        held -= share.held
    }
}
