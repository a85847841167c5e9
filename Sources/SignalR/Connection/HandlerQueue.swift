import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Runs handlers away from the event loop: one at a time, in the order of the messages.
final class HandlerQueue: Sendable {
    /// Each call takes so much besides its bytes.
    private static var overhead: Int { 256 }

    private let limit: Int
    private let waiting = NIOLockedValueBox(0)
    private let continuation: AsyncStream<HubArguments>.Continuation

    /// - Parameter limit: bytes of calls that may wait.
    init(handlers: HandlerTable, limit: Int, logger: Logger) {
        self.limit = limit
        let (stream, continuation) = AsyncStream.makeStream(of: HubArguments.self)
        self.continuation = continuation
        Task { [waiting] in
            for await arguments in stream {
                for listener in handlers[arguments.method]?.listeners ?? [] {
                    do {
                        try await listener.body(arguments)
                    } catch {
                        logger.warning(
                            "a handler failed", metadata: ["method": "\(arguments.method)", "error": "\(error)"])
                    }
                }
                waiting.withLockedValue { $0 -= arguments.array.readableBytes + Self.overhead }
            }
        }
    }

    /// Adds a call.
    ///
    /// - Returns: `false` if too much waits already.
    func add(_ arguments: HubArguments) -> Bool {
        let hasRoom = waiting.withLockedValue { waiting in
            let size = arguments.array.readableBytes + Self.overhead
            guard waiting + size <= limit else { return false }
            waiting += size
            return true
        }
        if hasRoom { continuation.yield(arguments) }
        return hasRoom
    }

    func finish() { continuation.finish() }
}
