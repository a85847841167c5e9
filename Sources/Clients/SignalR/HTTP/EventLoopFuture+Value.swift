import NIOCore
import Support

extension EventLoopFuture where Value: Sendable {
    /// The future's value, or an error at once when the task is cancelled.
    ///
    /// - Parameter dispose: receives a value that arrives after the task was cancelled, to close what it holds.
    func value(
        isolation: isolated (any Actor)? = #isolation, orDispose dispose: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(SignalRError) -> Value {
        let outcome = Outcome<Result<Value, any Error>>()
        whenComplete { result in
            if !outcome.resolve(result), case .success(let value) = result { dispose(value) }
        }
        guard let result = await outcome.value() else { throw SignalRError(.cancelled, "the task was cancelled") }
        switch result {
        case .success(let value): return value
        case .failure(let error as SignalRError): throw error
        case .failure(let error): throw SignalRError(.connectionFailed, "the connection failed", cause: error)
        }
    }
}
