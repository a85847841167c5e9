import NIOCore

/// The values of one element as they come, as an async sequence.
///
/// It ends when the connection does. A consumer that is slower than the values makes the peer wait: once
/// ``DeviceLimits/streamBufferCount`` values lie unread, reading from the connection pauses until half of them are gone
/// (all elements of the connection share its one stream of bytes, so all of them wait).
public struct ElementValues<Value: Sendable>: AsyncSequence, Sendable {
    typealias Producer = NIOAsyncSequenceProducer<
        Value, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, StreamDelegate
    >

    let producer: Producer

    /// Iterates over the values. A sequence has one iterator.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: Producer.AsyncIterator

        /// The next value, or `nil` when the connection has ended or the task was cancelled.
        public mutating func next() async -> Value? { await base.next() }
    }

    /// The iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: producer.makeAsyncIterator()) }
}
