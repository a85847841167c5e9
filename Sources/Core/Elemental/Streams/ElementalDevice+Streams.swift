public import ElementalWire

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
        values(buffering) { ($0, $1) }
    }

    /// The results of `make` for each value of any element, called on arrival, on the connection's event loop. They let
    /// a slow consumer know the state at that time. Applies backpressure as ``StreamBuffering/waiting`` does.
    package func values<Item: Sendable>(
        making make: @escaping @Sendable (ElementDefinition, ElementValue) -> Item
    ) -> ElementValues<Item> {
        values(.waiting, making: make)
    }

    private func values<Item: Sendable>(
        _ buffering: StreamBuffering, making make: @escaping @Sendable (ElementDefinition, ElementValue) -> Item
    ) -> ElementValues<Item> {
        stream(buffering) { stream in
            self.addHandlerForAll { element, bytes, _ in
                guard let value = ElementValue(received: bytes, type: element.type) else { return }
                stream.add(make(element, value), wireByteCount: bytes.bytes.count, isDatagram: bytes.isDatagram)
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
            policy(buffering), maximumByteCount: limits.streamBufferByteCount,
            pause: { self.addPause(ofStream: true) }, resume: { self.removePause($0) },
            didDrop: { self.noteOverrun($0) })
        let registration = register(stream)
        let ending = addEnding { _ in stream.finish() }
        stream.onTermination {
            registration.cancel()
            ending.cancel()
        }
        return ElementValues(stream)
    }

    /// A stream dropped values because its consumer was too slow for them.
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

    @inlinable
    func policy<Value>(_ buffering: StreamBuffering) -> ValueStream<Value>.Policy {
        switch buffering {
        case .waiting:
            let high = max(2, limits.streamBufferCount)
            return .pausing(low: high / 2, high: high)
        case .newest(let count): return .newest(count: max(1, count))
        }
    }
}
