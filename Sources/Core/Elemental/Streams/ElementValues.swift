public import NIOConcurrencyHelpers

/// The values of one element as they are received, as an async sequence.
///
/// It ends when the device does. ``StreamBuffering`` determines what happens to values that arrive faster than they are
/// consumed. By default a slow consumer exerts backpressure on the peer: once ``DeviceLimits/streamBufferCount`` values
/// or ``DeviceLimits/streamBufferByteCount`` bytes are buffered, reading from the connection pauses until half of them
/// are consumed (all elements of the connection share its one byte stream, so all of them wait). Of values that arrive
/// in datagrams, which nothing can hold back, the oldest are dropped instead.
///
/// A task may iterate on any executor. On ``ElementalDevice/executor``, the connection's event loop, a value costs
/// little more than a handler's call; elsewhere each value that finds the task waiting costs a thread hop.
public struct ElementValues<Value: Sendable>: AsyncSequence, Sendable {
    @usableFromInline let unstarted: Unstarted

    @inlinable
    init(_ stream: ValueStream<Value>) { unstarted = Unstarted(stream) }

    /// Ends a stream that was never iterated.
    @usableFromInline
    final class Unstarted: Sendable {
        @usableFromInline let stream: ValueStream<Value>
        @usableFromInline let hasIterator = NIOLockedValueBox(false)

        @inlinable
        init(_ stream: ValueStream<Value>) { self.stream = stream }

        @inlinable
        func makeIteration() -> Iteration {
            hasIterator.withLockedValue { $0 = true }
            return Iteration(stream)
        }

        @inlinable
        deinit { if !hasIterator.withLockedValue({ $0 }) { stream.cancel() } }
    }

    /// Ends a stream whose iterator is gone.
    @usableFromInline
    final class Iteration: Sendable {
        @usableFromInline let stream: ValueStream<Value>

        @inlinable
        init(_ stream: ValueStream<Value>) { self.stream = stream }

        @inlinable
        deinit { stream.cancel() }
    }

    /// Iterates over the values. A sequence has one iterator.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline let iteration: Iteration

        @inlinable
        init(_ iteration: Iteration) { self.iteration = iteration }

        /// The next value, or `nil` when the device has ended or the task was cancelled.
        @inlinable
        public mutating func next() async -> Value? { await iteration.stream.next(isolation: nil) }

        /// The next value, or `nil` when the device has ended or the task was cancelled. It stays on the caller's
        /// actor.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            await iteration.stream.next(isolation: actor)
        }
    }

    /// The iterator.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(unstarted.makeIteration()) }
}
