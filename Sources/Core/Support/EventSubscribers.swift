/// The handlers and async streams that receive events, without a lock: an ``EventSource`` guards them with one of its own.
package struct EventSubscribers<Event: Sendable>: Sendable {
    package typealias Handler = @Sendable (Event) -> Void
    package typealias Stream = AsyncStream<Event>.Continuation

    /// Events that a stream buffers for a consumer that falls behind; the oldest are dropped first. Events are rare, but a
    /// flood of them (connections that come and go) must not exhaust memory.
    package static var streamBufferCount: Int { 4096 }

    var handlers = Registry<Handler>()
    var streams = Registry<Stream>()
    private var isFinished = false

    package init() {}

    /// - Returns: the stream's token; `nil` if no further events will follow.
    mutating func add(_ stream: Stream) -> UInt64? { isFinished ? nil : streams.add(stream) }

    /// No further events will follow: streams added later are refused.
    ///
    /// - Returns: the streams, which the caller finishes once the lock is no longer held.
    mutating func finish() -> [Stream] {
        isFinished = true
        return streams.takeAll()
    }

    /// Streams added from now on receive events again.
    package mutating func reopen() { isFinished = false }
}
