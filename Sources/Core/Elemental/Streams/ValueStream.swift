public import DequeModule
public import NIOConcurrencyHelpers

/// Passes values from the event loop, which adds them, to a task, which consumes them one at a time.
///
/// A value that finds a task waiting is handed to it directly. Otherwise it is buffered, and the policy determines what
/// happens when the buffer is full. In the steady state nothing is allocated. It is inlinable so that it is specialized
/// for the type of the values in the program's module: determining the type at run time, value by value, costs several
/// times as much as all the rest.
@usableFromInline
final class ValueStream<Value: Sendable>: Sendable {
    /// What happens when values arrive faster than they are consumed.
    @usableFromInline
    enum Policy: Sendable {
        /// The device is paused when `high` values are buffered, and resumed when `low` are left.
        case pausing(low: Int, high: Int)
        /// Only the newest `count` values are kept.
        case newest(count: Int)
    }

    @usableFromInline typealias Consumer = UnsafeContinuation<Value?, Never>

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var values: Deque<Value> = []
        /// Tasks that wait for a value, in order; normally there is at most one.
        @usableFromInline var consumers: Deque<Consumer> = []
        /// The token of the pause that this stream has put on its device.
        @usableFromInline var pause: UInt64?
        /// Whether further values are refused. Those that are buffered can still be consumed.
        @usableFromInline var isFinished = false
        @usableFromInline var onTermination: (@Sendable () -> Void)?

        @inlinable init() {}
    }

    @usableFromInline
    enum Next {
        case value(Value, resume: UInt64?)
        case end
        case empty
    }

    @usableFromInline let policy: Policy
    /// Pauses reading. The result identifies this pause.
    @usableFromInline let pause: @Sendable () -> UInt64
    /// Undoes one pause.
    @usableFromInline let resume: @Sendable (UInt64) -> Void
    @usableFromInline let state = NIOLockedValueBox(State())

    @inlinable
    init(
        _ policy: Policy, pause: @escaping @Sendable () -> UInt64, resume: @escaping @Sendable (UInt64) -> Void
    ) {
        self.policy = policy
        self.pause = pause
        self.resume = resume
    }

    /// Runs `body` once, when the stream has finished or its consumer is gone; at once if that has happened already.
    @inlinable
    func onTermination(_ body: @escaping @Sendable () -> Void) {
        let isFinished = state.withLockedValue { state in
            if !state.isFinished { state.onTermination = body }
            return state.isFinished
        }
        if isFinished { body() }
    }

    // MARK: The event loop's side

    /// Hands the value to a waiting task, or buffers it.
    @inlinable
    func add(_ value: Value) {
        let consumer: Consumer? = state.withLockedValue { state in
            if state.isFinished { return nil }
            if let consumer = state.consumers.popFirst() { return consumer }
            state.values.append(value)
            switch policy {
            case .pausing(_, let high):
                // Pause under the lock: a consumer that empties the buffer meanwhile must find the pause in order to
                // undo it.
                if state.values.count >= high, state.pause == nil { state.pause = pause() }
            case .newest(let count):
                if state.values.count > count { state.values.removeFirst() }
            }
            return nil
        }
        consumer?.resume(returning: value)
    }

    /// No further values will follow. Those that are buffered can still be consumed, and no longer exert backpressure.
    @inlinable
    func finish() { terminate(keepingValues: true) }

    // MARK: The consumer's side

    /// The consumer is gone.
    @inlinable
    func cancel() { terminate(keepingValues: false) }

    /// The next value, or `nil` when the stream has ended or the task was cancelled, which ends the stream.
    @inlinable
    func next(isolation: isolated (any Actor)?) async -> Value? {
        if Task.isCancelled { cancel() }
        switch take() {
        case .value(let value, let pause):
            if let pause { resume(pause) }
            return value
        case .end: return nil
        case .empty: break
        }
        return await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: isolation) { self.wait($0) }
            },
            onCancel: { cancel() },
            isolation: isolation)
    }

    @inlinable
    func take() -> Next { state.withLockedValue { take(&$0) } }

    @inlinable
    func take(_ state: inout State) -> Next {
        guard let value = state.values.popFirst() else { return state.isFinished ? .end : .empty }
        guard case .pausing(let low, _) = policy, state.values.count <= low else { return .value(value, resume: nil) }
        return .value(value, resume: state.pause.take())
    }

    /// Resumes the consumer with the next value, as soon as there is one.
    @inlinable
    func wait(_ consumer: Consumer) {
        let next = state.withLockedValue { state in
            // A value may have been added since `next` looked.
            let next = take(&state)
            if case .empty = next { state.consumers.append(consumer) }
            return next
        }
        switch next {
        case .value(let value, let pause):
            if let pause { resume(pause) }
            consumer.resume(returning: value)
        case .end: consumer.resume(returning: nil)
        case .empty: break
        }
    }

    @inlinable
    func terminate(keepingValues: Bool) {
        let (consumers, pause, onTermination) = state.withLockedValue { state in
            state.isFinished = true
            if !keepingValues { state.values.removeAll() }
            defer { state.consumers.removeAll() }
            return (state.consumers, state.pause.take(), state.onTermination.take())
        }
        for consumer in consumers { consumer.resume(returning: nil) }
        if let pause { resume(pause) }
        onTermination?()
    }
}
