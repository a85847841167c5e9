import DequeModule
import NIOCore
import Support

/// The items of a stream, between the event loop that receives them and the task that consumes them.
final class ItemBuffer: Sendable {
    private struct State {
        var items: Deque<(bytes: ByteBuffer, share: UndeliveredSize.Share)> = []
        var size: UndeliveredSize
        var consumer: CheckedContinuation<Result<ByteBuffer?, SignalRError>, Never>?
        /// Set when no more items follow; holds the error that ends the stream, if there is one.
        var end: SignalRError??
    }

    /// Bytes of memory that an item takes besides its own.
    private static var overhead: Int { 64 }

    let limit: Int
    private let state: Locked<State>
    private let cancelled: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: how many bytes of items may be buffered.
    ///   - cancelled: called when the consumer goes away before the end.
    init(limit: Int, cancelled: @escaping @Sendable () -> Void) {
        self.limit = limit
        state = Locked(State(size: UndeliveredSize(limit: limit)))
        self.cancelled = cancelled
    }

    /// Adds an item.
    ///
    /// - Parameter piece: the number of the network read in which it ended.
    /// - Returns: `false` if the buffer is full.
    func add(_ item: ByteBuffer, piece: UInt64) -> Bool {
        let (consumer, isAdded) = state.withLock { state in
            guard state.end == nil else {
                return (nil as CheckedContinuation<Result<ByteBuffer?, SignalRError>, Never>?, true)
            }
            if let consumer = state.consumer {
                state.consumer = nil
                return (consumer, true)
            }
            guard let share = state.size.add(item, overhead: Self.overhead, piece: piece) else { return (nil, false) }
            state.items.append((item, share))
            return (nil, true)
        }
        consumer?.resume(returning: .success(item))
        return isAdded
    }

    /// Ends the stream; no more items follow.
    func finish(_ error: SignalRError?) {
        let consumer = state.withLock {
            state -> CheckedContinuation<Result<ByteBuffer?, SignalRError>, Never>? in
            guard state.end == nil else { return nil }
            state.end = .some(error)
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    }

    /// The consumer does not want more items.
    func cancel() {
        let wasOpen = state.withLock { state in
            state.items = []
            return state.end == nil
        }
        guard wasOpen else { return }
        finish(SignalRError(.cancelled, "the stream was cancelled"))
        cancelled()
    }

    /// The next item; `nil` at the end.
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
