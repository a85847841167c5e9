package import NIOCore

/// A value that is set once and that one task waits for. Cancelling the task ends its wait at once.
package final class Outcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Value?, Never>)
        case decided(Value)
        case over
    }

    private let state = Locked(State.open)

    package init() {}

    /// Sets the value. Only the first call has an effect.
    ///
    /// - Returns: `false` if the value was set before, or the waiting task was cancelled. The caller then has to
    ///   dispose of the value's resources.
    @discardableResult
    package func resolve(_ value: Value) -> Bool {
        let (continuation, isTaken) = state.withLock { state -> (CheckedContinuation<Value?, Never>?, Bool) in
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

    /// Waits for the value. Call it once.
    ///
    /// - Returns: `nil` if the task was cancelled first, and for a second call.
    package func value(isolation: isolated (any Actor)? = #isolation) async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Value?? = state.withLock { state in
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
            let continuation = state.withLock { state -> CheckedContinuation<Value?, Never>? in
                guard case .waiting(let continuation) = state else { return nil }
                state = .over
                return continuation
            }
            continuation?.resume(returning: nil)
        }
    }

    /// Waits for the value, and sets it when the timeout expires. Call it once.
    ///
    /// - Parameter late: the value to set at the timeout.
    /// - Returns: `nil` if the task was cancelled first.
    package func value(
        within timeout: TimeAmount, on eventLoop: any EventLoop, isolation: isolated (any Actor)? = #isolation,
        otherwise late: @escaping @Sendable () -> Value
    ) async -> Value? {
        let deadline = eventLoop.scheduleTask(in: timeout) { _ = self.resolve(late()) }
        defer { deadline.cancel() }
        return await value()
    }
}
