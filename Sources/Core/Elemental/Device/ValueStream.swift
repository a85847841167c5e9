public import DequeModule
public import NIOConcurrencyHelpers

/// Passes values from the event loop to a task, which consumes them one at a time.
///
/// A waiting task receives the value directly. Otherwise the value is buffered; ``StreamBuffering`` determines what
/// happens when the buffer is full, in values or in bytes. The sender of datagrams cannot be slowed down, so their
/// values never cause a pause: the oldest are dropped. In the steady state nothing is allocated.
///
/// It is inlinable so that it is specialized for the values' type in the program's module: unspecialized generic code
/// costs several times as much as all the rest.
@usableFromInline
final class ValueStream<Value: Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline let value: Value
        /// The size in memory.
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
        /// Values that are never dropped.
        @usableFromInline var kept = Buffer()
        /// Values that may be dropped, the oldest first.
        @usableFromInline var droppable = Buffer()
        @usableFromInline var lastNumber: UInt64 = 0
        /// Waiting tasks, in order; normally at most one.
        @usableFromInline var consumers: Deque<Consumer> = []
        /// The token of this stream's pause on its device.
        @usableFromInline var pause: UInt64?
        /// Why the stream accepts no more values; `nil` while it does. Buffered values can still be consumed.
        @usableFromInline var ending: StreamEnding?
        @usableFromInline var onTermination: (@Sendable () -> Void)?

        @inlinable init() {}

        @inlinable var isEmpty: Bool { kept.entries.isEmpty && droppable.entries.isEmpty }

        @inlinable
        mutating func popFirst() -> Entry? {
            guard let other = droppable.entries.first else { return kept.popFirst() }
            if let first = kept.entries.first, first.number < other.number { return kept.popFirst() }
            return droppable.popFirst()
        }
    }

    /// Whether a full buffer pauses the device, until half of it is left.
    @usableFromInline let waits: Bool
    @usableFromInline let maximumCount: Int
    /// The limit of each buffer. A single value may be longer.
    @usableFromInline let maximumByteCount: Int
    /// The result identifies the pause.
    @usableFromInline let pause: @Sendable () -> UInt64
    @usableFromInline let resume: @Sendable (UInt64) -> Void
    /// Called with the number of values dropped, except for those that ``StreamBuffering/newest(_:)`` replaces.
    @usableFromInline let didDrop: @Sendable (Int) -> Void
    @usableFromInline let state = NIOLockedValueBox(State())

    @inlinable
    init(
        _ buffering: StreamBuffering, maximumCount: Int, maximumByteCount: Int,
        pause: @escaping @Sendable () -> UInt64, resume: @escaping @Sendable (UInt64) -> Void,
        didDrop: @escaping @Sendable (Int) -> Void
    ) {
        switch buffering {
        case .waiting: (waits, self.maximumCount) = (true, max(2, maximumCount))
        case .newest(let count): (waits, self.maximumCount) = (false, max(1, count))
        }
        self.maximumByteCount = maximumByteCount
        self.pause = pause
        self.resume = resume
        self.didDrop = didDrop
    }

    /// Runs `body` once, when the stream has finished or its consumer is gone, or at once if that has happened.
    @inlinable
    func onTermination(_ body: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLockedValue { state in
            if state.ending == nil { state.onTermination = body }
            return state.ending != nil
        }
        if hasEnded { body() }
    }

    @inlinable
    var ending: StreamEnding? { state.withLockedValue { $0.ending } }

    /// - Parameter wireByteCount: the length of the value's wire form.
    @inlinable
    func add(_ value: Value, wireByteCount: Int, isDatagram: Bool) {
        var dropCount = 0
        let consumer: Consumer? = state.withLockedValue { state in
            if state.ending != nil { return nil }
            if let consumer = state.consumers.popFirst() { return consumer }
            state.lastNumber &+= 1
            let entry = Entry(value, wireByteCount: wireByteCount, number: state.lastNumber)
            if waits, !isDatagram {
                state.kept.append(entry)
                // Pauses under the lock, so that a consumer that empties the buffer meanwhile finds the pause and
                // undoes it.
                let isFull = state.kept.entries.count >= maximumCount || state.kept.byteCount >= maximumByteCount
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

    /// - Returns: how many values beyond the limits were dropped, except for those that ``StreamBuffering/newest(_:)``
    ///   replaces.
    @inlinable
    func drop(from buffer: inout Buffer) -> Int {
        var count = 0
        while buffer.entries.count > maximumCount, buffer.popFirst() != nil { if waits { count += 1 } }
        while buffer.byteCount > maximumByteCount, buffer.entries.count > 1, buffer.popFirst() != nil { count += 1 }
        return count
    }

    @inlinable
    func cancel() { terminate(.cancelled) }

    /// The next value, or `nil` when the stream has ended or the task was cancelled, which ends the stream.
    @inlinable
    func next(isolation: isolated (any Actor)?) async -> Value? {
        if Task.isCancelled { cancel() }
        if let next = take() { return next }
        return await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: isolation) { consumer in
                    // A value may have been added meanwhile.
                    if let next = take(orAwaitBy: consumer) { consumer.resume(returning: next) }
                }
            },
            onCancel: { cancel() },
            isolation: isolation)
    }

    /// - Parameter consumer: resumed later with the next value if there is none yet.
    /// - Returns: what ``next(isolation:)`` returns; `nil` if there is no value yet.
    @inlinable
    func take(orAwaitBy consumer: Consumer? = nil) -> Value?? {
        let (next, pause) = state.withLockedValue { state -> (Value??, UInt64?) in
            guard let value = state.popFirst()?.value else {
                if state.ending != nil { return (.some(nil), nil) }
                if let consumer { state.consumers.append(consumer) }
                return (nil, nil)
            }
            let isHalfEmpty =
                state.kept.entries.count <= maximumCount / 2 && state.kept.byteCount <= maximumByteCount / 2
            return (value, isHalfEmpty ? state.pause.take() : nil)
        }
        if let pause { resume(pause) }
        return next
    }

    /// Refuses further values. If the device has ended, buffered ones can still be consumed, and no longer exert
    /// backpressure.
    @inlinable
    func terminate(_ ending: StreamEnding) {
        let (consumers, pause, onTermination) = state.withLockedValue { state in
            if state.ending == nil { state.ending = ending }
            if case .cancelled = ending, !state.isEmpty {
                // Also if the device has ended already: its buffered values will not be consumed.
                state.ending = ending
                (state.kept, state.droppable) = (Buffer(), Buffer())
            }
            defer { state.consumers.removeAll() }
            return (state.consumers, state.pause.take(), state.onTermination.take())
        }
        for consumer in consumers { consumer.resume(returning: nil) }
        if let pause { resume(pause) }
        onTermination?()
    }
}
