import Dispatch
import Elemental
import Support

/// Runs blocking system calls on threads of their own: Swift's pool has only one thread per core, and an event loop serves
/// many connections.
enum Blocking {
    /// Runs `body` and waits until it returns or the task is cancelled.
    ///
    /// - Parameter abandoned: called with the result if `body` returns after the task was cancelled.
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
                // If the task was cancelled before, the cancellation handler ran while there was no continuation.
                if Task.isCancelled { waiting.withLock { $0.take() }?.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            waiting.withLock { $0.take() }?.resume(throwing: CancellationError())
        }
    }

    /// Runs `body` and waits for it, even if the task is cancelled.
    static func finish(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "elemental.blocking").async {
                body()
                continuation.resume()
            }
        }
    }
}
