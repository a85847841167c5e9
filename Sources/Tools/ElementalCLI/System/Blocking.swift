import Dispatch
import Elemental
import Support

/// Runs blocking system calls on threads of their own: Swift's pool has only one thread per core, and an event loop serves
/// many connections.
enum Blocking {
    /// Runs `body` and waits until it returns or the task is cancelled.
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let outcome = Outcome<Result<Value, any Error>>()
        DispatchQueue(label: "elemental.blocking").async {
            outcome.resolve(Result { try body() })
        }
        guard let result = await outcome.value() else { throw CancellationError() }
        return try result.get()
    }

    /// Runs `body` and waits for it, even if the task is cancelled.
    static func finish<Value: Sendable, Failure>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            DispatchQueue(label: "elemental.blocking").async {
                continuation.resume(returning: Result(catching: body))
            }
        }
        return try result.get()
    }
}
