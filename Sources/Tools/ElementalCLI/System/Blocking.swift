import Dispatch
import Elemental

/// Calls of the system that may take long, each on a thread that may wait: those of Swift's pool are as few as the
/// processor has cores, and event loops serve everyone.
enum Blocking {
    /// Runs `body`, and waits for it or until the task is cancelled.
    ///
    /// - Parameter abandoned: gets what `body` returns when nobody waits for it any more.
    /// - Throws: what `body` throws; `CancellationError` if the task was cancelled.
    static func run<Value: Sendable>(
        abandoned: @escaping @Sendable (Value) -> Void = { _ in }, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let waiting = Locked<CheckedContinuation<Value, any Error>?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0 = continuation }
                DispatchQueue(label: "elemental.blocking").async {
                    let result = Result { try body() }
                    if let continuation = waiting.withLock({ $0.take() }) {
                        continuation.resume(with: result)
                    } else if case .success(let value) = result {
                        abandoned(value)
                    }
                }
                // A task that was cancelled before has had its handler called with nobody waiting.
                if Task.isCancelled { waiting.withLock { $0.take() }?.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            waiting.withLock { $0.take() }?.resume(throwing: CancellationError())
        }
    }

    /// Runs `body` and waits for it, even in a task that is cancelled.
    static func finish(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "elemental.blocking").async {
                body()
                continuation.resume()
            }
        }
    }
}
