import DequeModule
import NIOCore
import Support

/// The items of a stream, between the event loop that receives them and the task that consumes them.
final class ItemBuffer: Sendable {
    private typealias Consumer = CheckedContinuation<Result<ByteBuffer?, SignalRError>, Never>

    private struct State {
        var items: Deque<(bytes: ByteBuffer, share: UndeliveredSize.Share)> = []
        var size: UndeliveredSize
        var consumer: Consumer?
        /// Set when no more items follow; holds the error that ends the stream, if there is one.
        var end: SignalRError??
    }

    /// Bytes of memory that an item takes besides its own.
    private static var overhead: Int { 64 }

    let limit: Int
    private let state: Locked<State>
    private let cancelled: @Sendable () -> Void

    /// - Parameter cancelled: called when the stream is cancelled before its end.
    init(limit: Int, cancelled: @escaping @Sendable () -> Void) {
        self.limit = limit
        state = Locked(State(size: UndeliveredSize(limit: limit)))
        self.cancelled = cancelled
    }

    /// - Parameter piece: the number of the network read in which it ended.
    /// - Returns: `false` if the buffer is full.
    func add(_ item: ByteBuffer, piece: UInt64) -> Bool {
        let (consumer, isAdded) = state.withLock { state -> (Consumer?, Bool) in
            guard state.end == nil else { return (nil, true) }
            if let consumer = state.consumer.take() { return (consumer, true) }
            guard let share = state.size.add(item, overhead: Self.overhead, piece: piece) else { return (nil, false) }
            state.items.append((item, share))
            return (nil, true)
        }
        consumer?.resume(returning: .success(item))
        return isAdded
    }

    func finish(_ error: SignalRError?) {
        let consumer = state.withLock { state -> Consumer? in
            guard state.end == nil else { return nil }
            state.end = .some(error)
            return state.consumer.take()
        }
        consumer?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    }

    func cancel() {
        let wasOpen = state.withLock { state in
            state.items = []
            return state.end == nil
        }
        guard wasOpen else { return }
        finish(SignalRError(.cancelled, "the stream was cancelled"))
        cancelled()
    }

    func next(isolation: isolated (any Actor)? = #isolation) async throws(SignalRError) -> ByteBuffer? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Result<ByteBuffer?, SignalRError>? in
                    if let item = state.items.popFirst() {
                        state.size.remove(item.share)
                        return .success(item.bytes)
                    }
                    if let end = state.end { return end.map { .failure($0) } ?? .success(nil) }
                    guard state.consumer == nil else {
                        return .failure(SignalRError(.bufferOverflow, "a stream can be iterated by one task only"))
                    }
                    state.consumer = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }
}

/// Counts received data that is not yet delivered, in two ways: the bytes of the messages, and the memory that holds
/// them. A short message may be a slice of a large network read and keeps all of that alive.
struct UndeliveredSize {
    /// A single read may be as large as the largest message, so the memory may exceed a small limit by this much.
    private static var heldSurplus: Int { 64 << 20 }

    let limit: Int
    private var byteCount = 0
    private var held = 0
    private var lastPiece: UInt64?

    typealias Share = (byteCount: Int, held: Int)

    init(limit: Int) { self.limit = limit }

    /// - Parameters:
    ///   - overhead: bytes that a message takes besides its own.
    ///   - piece: the number of the network read in which the message ended. Only the first message of a read counts
    ///     the memory of that read, since messages are delivered in order.
    /// - Returns: the share to pass to ``remove(_:)`` when the message is delivered; `nil` if the limit is reached.
    mutating func add(_ bytes: ByteBuffer, overhead: Int, piece: UInt64) -> Share? {
        let memory = piece == lastPiece ? 0 : bytes.storageCapacity
        let share = (byteCount: bytes.readableBytes + overhead, held: memory)
        guard byteCount + share.byteCount <= limit, held + share.held <= 2 * limit + Self.heldSurplus
        else { return nil }
        byteCount += share.byteCount
        held += share.held
        lastPiece = piece
        return share
    }

    mutating func remove(_ share: Share) {
        byteCount -= share.byteCount
        held -= share.held
    }
}
