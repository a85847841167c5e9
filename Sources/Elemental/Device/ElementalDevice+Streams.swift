public import ElementalWire
import NIOCore

extension ElementalDevice {
    /// The values of the element as an async sequence, beginning with the newest one if any came before.
    ///
    /// - Parameter buffering: what becomes of values that come faster than they are taken.
    public func values<Value>(
        of element: Element<Value>, buffering: StreamBuffering = .waiting
    ) -> ElementValues<Value> {
        stream(buffering) { yield in
            self.addHandler(for: element.id) { bytes, _ in
                guard let value = Value(received: bytes) else { return }
                yield(value)
            }
        }
    }

    /// The values of all elements as an async sequence, untyped.
    ///
    /// - Parameter buffering: what becomes of values that come faster than they are taken.
    public func values(
        buffering: StreamBuffering = .waiting
    ) -> ElementValues<(element: ElementDefinition, value: ElementValue)> {
        stream(buffering) { yield in
            self.onAnyValue { element, value, _ in yield((element, value)) }
        }
    }

    private func stream<Value: Sendable>(
        _ buffering: StreamBuffering, _ register: (@escaping @Sendable (Value) -> Void) -> HandlerRegistration
    ) -> ElementValues<Value> {
        switch buffering {
        case .waiting: waitingStream(register)
        case .newest(let count): newestStream(max(1, count), register)
        }
    }

    private func newestStream<Value: Sendable>(
        _ count: Int, _ register: (@escaping @Sendable (Value) -> Void) -> HandlerRegistration
    ) -> ElementValues<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(count))
        let registration = register { continuation.yield($0) }
        let ending = Locked<UInt64?>(nil)
        // Set before the stream can end, for one that is set afterwards is never run.
        continuation.onTermination = { [endings] _ in
            registration.cancel()
            if let token = ending.withLock({ $0 }) { endings.remove(token) }
        }
        let token = endings.add { _ in continuation.finish() }
        ending.withLock { $0 = token }
        return ElementValues(source: .newest(stream))
    }

    private func waitingStream<Value: Sendable>(
        _ register: (@escaping @Sendable (Value) -> Void) -> HandlerRegistration
    ) -> ElementValues<Value> {
        let delegate = StreamDelegate(device: self)
        let high = max(2, limits.streamBufferCount)
        let parts = NIOAsyncSequenceProducer.makeSequence(
            elementType: Value.self,
            backPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
                lowWatermark: high / 2, highWatermark: high),
            finishOnDeinit: false,
            delegate: delegate)
        let source = parts.source
        let registration = register { value in
            delegate.handOn {
                switch source.yield(value) {
                case .produceMore: .gladly
                case .stopProducing: .asTheLast
                case .dropped: .byNobody
                }
            }
        }
        let ending = endings.add { _ in
            source.finish()
            // What the consumer has yet to take holds up nobody any more.
            delegate.didTerminate()
        }
        delegate.whenOver { [endings] in
            // A source has to be finished before it is let go.
            source.finish()
            registration.cancel()
            if let ending { endings.remove(ending) }
        }
        return ElementValues(source: .waiting(parts.sequence))
    }
}
