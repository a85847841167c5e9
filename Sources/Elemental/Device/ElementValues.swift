import NIOCore

/// The values of one element as they come, as an async sequence.
///
/// It ends when the connection does. What becomes of values that come faster than they are taken is the choice of
/// ``StreamBuffering``. By default a slow consumer makes the peer wait: once ``DeviceLimits/streamBufferCount`` values lie
/// unread, reading from the connection pauses until half of them are gone (all elements of the connection share its one
/// stream of bytes, so all of them wait).
public struct ElementValues<Value: Sendable>: AsyncSequence, Sendable {
    typealias Producer = NIOAsyncSequenceProducer<
        Value, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, StreamDelegate
    >

    enum Source: Sendable {
        case waiting(Producer)
        case newest(AsyncStream<Value>)
    }

    let source: Source

    /// Iterates over the values. A sequence has one iterator.
    public struct AsyncIterator: AsyncIteratorProtocol {
        enum Base {
            case waiting(Producer.AsyncIterator)
            case newest(AsyncStream<Value>.AsyncIterator)
        }

        var base: Base

        /// The next value, or `nil` when the connection has ended or the task was cancelled.
        public mutating func next() async -> Value? {
            switch base {
            case .waiting(let iterator):
                return await iterator.next()
            case .newest(var iterator):
                defer { base = .newest(iterator) }
                return await iterator.next()
            }
        }
    }

    /// The iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .waiting(let producer): AsyncIterator(base: .waiting(producer.makeAsyncIterator()))
        case .newest(let stream): AsyncIterator(base: .newest(stream.makeAsyncIterator()))
        }
    }
}
