package import NIOCore

extension EventLoop {
    /// Runs `body` on the event loop and returns its result. Cancelling the task does not end the wait.
    package func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            execute { continuation.resume(returning: body()) }
        }
    }
}
