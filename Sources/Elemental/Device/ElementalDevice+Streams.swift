public import ElementalWire
import NIOCore

extension ElementalDevice {
    /// The values of the element as an async sequence, beginning with the newest one if any came before.
    public func values<Value>(of element: Element<Value>) -> ElementValues<Value> {
        stream { yield in
            self.addHandler(for: element.id) { bytes, _ in
                guard let value = Value(received: bytes) else { return }
                yield(value)
            }
        }
    }

    /// The values of all elements as an async sequence, untyped.
    public func values() -> ElementValues<(element: ElementDefinition, value: ElementValue)> {
        stream { yield in
            self.onAnyValue { element, value, _ in yield((element, value)) }
        }
    }

    private func stream<Value: Sendable>(
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
            if case .stopProducing = source.yield(value) { delegate.stopProducing() }
        }
        delegate.adopt(registration)
        endings.add { _ in source.finish() }
        return ElementValues(producer: parts.sequence)
    }
}
