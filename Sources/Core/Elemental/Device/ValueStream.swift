public import DequeModule
public import NIOConcurrencyHelpers

/// Passes values from the event loop, which adds them, to a task, which consumes them one at a time.
///
/// A value that finds a task waiting is handed to it directly. Otherwise it is buffered, and the policy determines what
/// happens when the buffer is full: of values, or of bytes. Nothing slows down the sender of a datagram, so values from
/// datagrams are never a reason to pause: the oldest of them are dropped. In the steady state nothing is allocated. It is inlinable so that it is specialized
/// for the type of the values in the program's module: determining the type at run time, value by value, costs several
/// times as much as all the rest.
@usableFromInline
final class ValueStream<Value: Sendable>: Sendable {
    /// What happens when values arrive faster than they are consumed.
    @usableFromInline
    enum Policy: Sendable {
        /// The device is paused when `high` values are buffered, and resumed when `low` are left. Of those from datagrams
        /// the newest `high` are kept.
        case pausing(low: Int, high: Int)
        /// Only the newest `count` values are kept.
        case newest(count: Int)
    }

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let value: Value
        /// The memory that it takes.
        @usableFromInline let byteCount: Int
        /// Orders the entries of both buffers.
        @usableFromInline let number: UInt64

        @inlinable
        init(_ value: Value, wireByteCount: Int, number: UInt64) {
            self.value = value
            byteCount = wireByteCount + MemoryLayout<Entry>.stride
            self.number = number
        }
    }

    @usableFromInline
    struct Buffer: Sendable {
        @usableFromInline var entries: Deque<Entry> = []
        @usableFromInline var byteCount = 0

        @inlinable init() {}

        @inlinable
        mutating func append(_ entry: Entry) {
            entries.append(entry)
            byteCount += entry.byteCount
        }

        @inlinable
        mutating func popFirst() -> Entry? {
            guard let entry = entries.popFirst() else { return nil }
            byteCount -= entry.byteCount
            return entry
        }
    }

    @usableFromInline typealias Consumer = UnsafeContinuation<Value?, Never>

    @usableFromInline
    struct State: Sendable {
        /// Values that wait for the consumer, however slow it is.
        @usableFromInline var kept = Buffer()
        /// Values of which the oldest may be dropped.
        @usableFromInline var droppable = Buffer()
        @usableFromInline var lastNumber: UInt64 = 0
        /// Tasks that wait for a value, in order; normally there is at most one.
        @usableFromInline var consumers: Deque<Consumer> = []
        /// The token of the pause that this stream has put on its device.
        @usableFromInline var pause: UInt64?
        /// Whether further values are refused. Those that are buffered can still be consumed.
        @usableFromInline var isFinished = false
        @usableFromInline var onTermination: (@Sendable () -> Void)?

        @inlinable init() {}

        /// Removes the oldest entry.
        @inlinable
        mutating func popFirst() -> Entry? {
            guard let other = droppable.entries.first else { return kept.popFirst() }
            if let first = kept.entries.first, first.number < other.number { return kept.popFirst() }
            return droppable.popFirst()
        }
    }

    @usableFromInline
    enum Next {
        case value(Value, resume: UInt64?)
        case end
        case empty
    }

    @usableFromInline let policy: Policy
    /// The bound of each buffer. A single value may be longer.
    @usableFromInline let maximumByteCount: Int
    /// Pauses reading. The result identifies this pause.
    @usableFromInline let pause: @Sendable () -> UInt64
    /// Undoes one pause.
    @usableFromInline let resume: @Sendable (UInt64) -> Void
    /// Told how many values were dropped that the consumer did not ask to have dropped.
    @usableFromInline let didDrop: @Sendable (Int) -> Void
    @usableFromInline let state = NIOLockedValueBox(State())

    @inlinable
    init(
        _ policy: Policy, maximumByteCount: Int, pause: @escaping @Sendable () -> UInt64,
        resume: @escaping @Sendable (UInt64) -> Void, didDrop: @escaping @Sendable (Int) -> Void
    ) {
        self.policy = policy
        self.maximumByteCount = maximumByteCount
        self.pause = pause
        self.resume = resume
        self.didDrop = didDrop
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
    ///
    /// - Parameters:
    ///   - wireByteCount: the length of its wire form.
    ///   - isDatagram: whether it came in a datagram.
    @inlinable
    func add(_ value: Value, wireByteCount: Int, isDatagram: Bool) {
        var dropCount = 0
        let consumer: Consumer? = state.withLockedValue { state in
            if state.isFinished { return nil }
            if let consumer = state.consumers.popFirst() { return consumer }
            state.lastNumber &+= 1
            let entry = Entry(value, wireByteCount: wireByteCount, number: state.lastNumber)
            if case .pausing(_, let high) = policy, !isDatagram {
                state.kept.append(entry)
                // Pause under the lock: a consumer that empties the buffer meanwhile must find the pause in order to
                // undo it.
                let isFull = state.kept.entries.count >= high || state.kept.byteCount >= maximumByteCount
                if isFull, state.pause == nil { state.pause = pause() }
            } else {
                state.droppable.append(entry)
                dropCount = drop(from: &state.droppable)
            }
            return nil
        }
        consumer?.resume(returning: value)
        if dropCount > 0 { didDrop(dropCount) }
    }

    /// Drops the oldest values beyond the bounds.
    ///
    /// - Returns: how many, except those that the consumer asked to have dropped.
    @inlinable
    func drop(from buffer: inout Buffer) -> Int {
        var count = 0
        switch policy {
        case .pausing(_, let high):
            while buffer.entries.count > high, buffer.popFirst() != nil { count += 1 }
        case .newest(let newest):
            while buffer.entries.count > newest { _ = buffer.popFirst() }
        }
        while buffer.byteCount > maximumByteCount, buffer.entries.count > 1, buffer.popFirst() != nil { count += 1 }
        return count
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
        guard let value = state.popFirst()?.value else { return state.isFinished ? .end : .empty }
        guard case .pausing(let low, _) = policy, state.kept.entries.count <= low,
            state.kept.byteCount <= maximumByteCount / 2
        else { return .value(value, resume: nil) }
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
            if !keepingValues { (state.kept, state.droppable) = (Buffer(), Buffer()) }
            defer { state.consumers.removeAll() }
            return (state.consumers, state.pause.take(), state.onTermination.take())
        }
        for consumer in consumers { consumer.resume(returning: nil) }
        if let pause { resume(pause) }
        onTermination?()
    }
}
