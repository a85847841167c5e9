public import ElementalWire
public import NIOConcurrencyHelpers

/// Values of one element, or of all, as they are received, as an async sequence.
///
/// It ends when the device does; ``ending`` is the reason. ``StreamBuffering`` determines what happens to values that
/// arrive faster than they are consumed. By default a slow consumer exerts backpressure on the peer: once
/// ``DeviceLimits/streamBufferCount`` values or ``DeviceLimits/streamBufferByteCount`` bytes are buffered, reading from
/// the connection pauses until half of them are consumed. This holds back all elements of the connection. Datagrams
/// cannot be held back: the oldest of their values are dropped.
///
/// A task may iterate on any executor. On ``ElementalDevice/executor``, the connection's event loop, a value costs
/// little more than a handler's call; elsewhere each value that finds the task waiting costs a thread hop.
public struct ElementValues<Value: Sendable>: AsyncSequence, Sendable {
    @usableFromInline let stream: ValueStream<Value>
    /// Passed to the iterator. A sequence that is released before it has made an iterator releases this too, which ends
    /// the stream.
    @usableFromInline let iteration: NIOLockedValueBox<Iteration?>

    @inlinable
    init(_ stream: ValueStream<Value>) {
        self.stream = stream
        iteration = NIOLockedValueBox(Iteration(stream))
    }

    /// Ends the stream when the iterator is released.
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

    /// Returns the iterator.
    @inlinable
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iteration.withLockedValue { $0.take() } ?? Iteration(stream))
    }

    /// Why the stream ended; `nil` before.
    ///
    /// ```swift
    /// let levels = device.values(of: Lamp.level)
    /// for await level in levels { … }
    /// if case .disconnected(let reason)? = levels.ending { print(reason) }
    /// ```
    /// It is set as soon as the device has ended, even while buffered values are still delivered.
    @inlinable
    public var ending: StreamEnding? { stream.ending }
}

/// Why a stream of values ended. More endings may be added; give a `switch` a default.
public enum StreamEnding: Sendable {
    /// The device ended for this reason, and every buffered value was delivered.
    case disconnected(DisconnectReason)
    /// The iterating task was cancelled, or it left the loop. Values that were still buffered are discarded, even if the
    /// device has ended meanwhile.
    case cancelled
}

/// What an async stream does with values that arrive faster than they are consumed.
public enum StreamBuffering: Sendable, Hashable {
    /// It buffers ``DeviceLimits/streamBufferCount`` values or ``DeviceLimits/streamBufferByteCount`` bytes; then
    /// reading from the TCP connection pauses, which makes the peer wait. Datagrams cannot be held back: within the
    /// same limits their values are buffered, and the oldest are dropped and counted
    /// (``DeviceStatistics/messagesOverrun``).
    case waiting
    /// It buffers this many of the newest values, at least 1, in up to ``DeviceLimits/streamBufferByteCount`` bytes.
    /// Older values are dropped, and the peer never waits.
    case newest(Int)
}

extension ElementalDevice {
    /// The values of the element as an async sequence, starting with the newest if any was received before.
    ///
    /// - Parameter buffering: what happens to values that arrive faster than they are consumed.
    @inlinable
    public func values<Value>(
        of element: Element<Value>, buffering: StreamBuffering = .waiting
    ) -> ElementValues<Value> {
        stream(buffering) { stream in
            self.addHandler(for: element.id) { bytes, device in
                guard let value = Value(received: bytes) else { return device.noteUndecodable(element.id) }
                stream.add(value, wireByteCount: bytes.bytes.count, isDatagram: bytes.isDatagram)
            }
        }
    }

    /// The values of all elements as an async sequence, untyped.
    ///
    /// - Parameter buffering: what happens to values that arrive faster than they are consumed.
    public func values(
        buffering: StreamBuffering = .waiting
    ) -> ElementValues<(element: ElementDefinition, value: ElementValue)> {
        values(buffering) { element, value, _ in (element, value) }
    }

    /// The results of `make` for each value of any element. `make` is called on the connection's event loop when the
    /// value arrives, so that a slow consumer can see the state at that time.
    package func values<Item: Sendable>(
        _ buffering: StreamBuffering = .waiting,
        making make: @escaping @Sendable (ElementDefinition, ElementValue, ElementalDevice) -> Item
    ) -> ElementValues<Item> {
        stream(buffering) { stream in
            self.addHandlerForAll { element, bytes, device in
                guard let value = ElementValue(received: bytes, type: element.type) else { return }
                stream.add(make(element, value, device), wireByteCount: bytes.bytes.count, isDatagram: bytes.isDatagram)
            }
        }
    }

    /// Runs tasks on the connection's event loop, where its values are sent and received without a thread hop.
    ///
    /// ```swift
    /// Task(executorPreference: device.executor) {
    ///     for await pose in device.values(of: Robot.pose) { … }
    /// }
    /// ```
    /// Like a handler, such a task must not block. The devices of a service share its loop.
    public var executor: any TaskExecutor { loopExecutor }

    @inlinable
    func stream<Value: Sendable>(
        _ buffering: StreamBuffering, _ register: (ValueStream<Value>) -> HandlerRegistration
    ) -> ElementValues<Value> {
        let stream = ValueStream<Value>(
            buffering, maximumCount: limits.streamBufferCount, maximumByteCount: limits.streamBufferByteCount,
            pause: { self.addPause() }, resume: { self.removePause($0) },
            didDrop: { self.noteOverrun($0) })
        let registration = register(stream)
        let ending = addEnding { stream.terminate(.disconnected($0)) }
        stream.onTermination {
            registration.cancel()
            ending.cancel()
        }
        return ElementValues(stream)
    }

    @usableFromInline
    func noteOverrun(_ count: Int) {
        let isFirst = state.withLock { state in
            defer { state.inbound.statistics.messagesOverrun += count }
            return state.inbound.statistics.messagesOverrun == 0
        }
        guard isFirst else { return }
        logger.warning(
            "values dropped: a stream's consumer is slower than they arrive; consume faster, or ask for the newest only",
            metadata: ["device": "\(name)"])
    }
}
