/// The handlers and async streams that receive events. The ``EventSource`` guards them with its lock.
package struct EventSubscribers<Event: Sendable>: Sendable {
    package typealias Handler = @Sendable (Event) -> Void
    package typealias Stream = AsyncStream<Event>.Continuation

    /// The maximum number of events that a stream buffers for a slow consumer; the oldest are dropped first. Events are
    /// rare, but a flood of them (connections that come and go) must not exhaust memory.
    package static var streamBufferCount: Int { 4096 }

    var handlers = Registry<Handler>()
    var streams = Registry<Stream>()
    private var isFinished = false

    package init() {}

    /// - Returns: the stream's token; `nil` if no further events will follow.
    mutating func add(_ stream: Stream) -> UInt64? { isFinished ? nil : streams.add(stream) }

    /// Refuses streams that are added later, because no further events follow.
    ///
    /// - Returns: the streams. The caller finishes them after it has released the lock.
    mutating func finish() -> [Stream] {
        isFinished = true
        return streams.takeAll()
    }

    /// Streams added from now on receive events again.
    package mutating func reopen() { isFinished = false }
}
