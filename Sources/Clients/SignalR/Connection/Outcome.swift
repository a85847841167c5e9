import NIOConcurrencyHelpers
import NIOCore

/// Something that is decided once and that one task waits for. A cancelled task stops waiting at once.
final class Outcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Value?, Never>)
        case decided(Value)
        case over
    }

    private let state = NIOLockedValueBox(State.open)

    /// Decides.
    ///
    /// - Returns: `false` if it was decided before or nobody waits any more: what the value holds is the caller's to end.
    @discardableResult
    func resolve(_ value: Value) -> Bool {
        let (continuation, isTaken) = state.withLockedValue { state -> (CheckedContinuation<Value?, Never>?, Bool) in
            switch state {
            case .open:
                state = .decided(value)
                return (nil, true)
            case .waiting(let continuation):
                state = .over
                return (continuation, true)
            case .decided, .over:
                return (nil, false)
            }
        }
        continuation?.resume(returning: value)
        return isTaken
    }

    /// Waits until it is decided; to be called once.
    ///
    /// - Returns: `nil` if the task was cancelled first.
    func value(isolation: isolated (any Actor)? = #isolation) async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Value?? = state.withLockedValue { state in
                    switch state {
                    case .open:
                        if Task.isCancelled {
                            state = .over
                            return .some(nil)
                        }
                        state = .waiting(continuation)
                        return nil
                    case .decided(let value):
                        state = .over
                        return value
                    case .waiting, .over:
                        return .some(nil)
                    }
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = state.withLockedValue { state -> CheckedContinuation<Value?, Never>? in
                guard case .waiting(let continuation) = state else { return nil }
                state = .over
                return continuation
            }
            continuation?.resume(returning: nil)
        }
    }
}

extension EventLoopFuture where Value: Sendable {
    /// The future's value, or an error at once when the task is cancelled.
    ///
    /// - Parameter dispose: ends what comes too late for a cancelled task.
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
