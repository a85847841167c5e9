/// The handlers and async streams that receive events, without a lock: an ``EventSource`` guards them with one of its own.
package struct EventSubscribers<Event: Sendable>: Sendable {
    package typealias Handler = @Sendable (Event) -> Void
    package typealias Stream = AsyncStream<Event>.Continuation

    /// Events that a stream buffers for a consumer that falls behind; the oldest are dropped first. Events are rare, but a
    /// flood of them (connections that come and go) must not exhaust memory.
    package static var streamBufferCount: Int { 4096 }

    private var handlers: [(token: UInt64, handler: Handler)] = []
    private var streams: [UInt64: Stream] = [:]
    private var lastToken: UInt64 = 0
    private var isFinished = false

    package init() {}

    /// - Returns: the token for ``take(_:)``.
    mutating func add(_ handler: @escaping Handler) -> UInt64 {
        lastToken += 1
        handlers.append((lastToken, handler))
        return lastToken
    }

    /// - Returns: the token for ``take(_:)``; `nil` if no further events will follow.
    mutating func add(_ stream: Stream) -> UInt64? {
        guard !isFinished else { return nil }
        lastToken += 1
        streams[lastToken] = stream
        return lastToken
    }

    /// Removes a handler or a stream. The caller releases it once the lock is no longer held.
    mutating func take(_ token: UInt64) -> (Handler?, Stream?) {
        let position = handlers.firstIndex { $0.token == token }
        return (position.map { handlers.remove(at: $0).handler }, streams.removeValue(forKey: token))
    }

    /// Removes all handlers. The caller releases them once the lock is no longer held.
    mutating func takeHandlers() -> [Handler] {
        defer { handlers = [] }
        return handlers.map(\.handler)
    }

    /// The subscribers to notify, once the lock is no longer held.
    var listeners: (handlers: [(token: UInt64, handler: Handler)], streams: [Stream]) {
        (handlers, Array(streams.values))
    }

    /// No further events will follow: streams added later are refused.
    ///
    /// - Returns: the streams, which the caller finishes once the lock is no longer held.
    mutating func finish() -> [Stream] {
        isFinished = true
        defer { streams = [:] }
        return Array(streams.values)
    }

    /// Streams added from now on receive events again.
    package mutating func reopen() { isFinished = false }
}
