import Logging
import NIOCore
import Support

/// Runs handlers off the event loop, one at a time and in the order of the messages.
final class HandlerQueue: Sendable {
    /// Bytes of memory that a call takes besides its own.
    private static var overhead: Int { 256 }

    private struct Call {
        let arguments: HubArguments
        let share: UndeliveredSize.Share
    }

    private let waiting: Locked<UndeliveredSize>
    private let continuation: AsyncStream<Call>.Continuation

    /// - Parameter limit: how many bytes of calls may be queued.
    init(handlers: MethodHandlers, limit: Int, logger: Logger) {
        waiting = Locked(UndeliveredSize(limit: limit))
        let (stream, continuation) = AsyncStream.makeStream(of: Call.self)
        self.continuation = continuation
        Task { [waiting] in
            for await call in stream {
                let arguments = call.arguments
                for listener in handlers[arguments.method]?.listeners ?? [] {
                    do {
                        try await listener.body(arguments)
                    } catch {
                        logger.warning(
                            "a handler failed", metadata: ["method": "\(arguments.method)", "error": "\(error)"])
                    }
                }
                waiting.withLock { $0.remove(call.share) }
            }
        }
    }

    /// Adds a call.
    ///
    /// - Parameter piece: the number of the network read in which it ended.
    /// - Returns: `false` if the buffer is full.
    func add(_ arguments: HubArguments, piece: UInt64) -> Bool {
        let share = waiting.withLock { $0.add(arguments.array, overhead: Self.overhead, piece: piece) }
        guard let share else { return false }
        continuation.yield(Call(arguments: arguments, share: share))
        return true
    }

    func finish() { continuation.finish() }
}
