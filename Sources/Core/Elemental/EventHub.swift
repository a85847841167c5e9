/// Tells events to handlers and to async streams, each of which gets all of them from when it asked.
final class EventHub<Event: Sendable>: Sendable {
    /// Events that a stream keeps for a consumer that does not come; the oldest go first. Events are rare, and a
    /// flood of them (connections that come and go) must not fill the memory.
    static var streamBufferCount: Int { 4096 }

    private struct State {
        var handlers: [@Sendable (Event) -> Void] = []
        var streams: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var last: UInt64 = 0
        var isFinished = false
    }

    private let state = Locked(State())

    func add(_ handler: @escaping @Sendable (Event) -> Void) { state.withLock { $0.handlers.append(handler) } }

    func stream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.streamBufferCount))
        let token: UInt64? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.last += 1
            state.streams[state.last] = continuation
            return state.last
        }
        if let token {
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.streams.removeValue(forKey: token) }
            }
        } else {
            continuation.finish()
        }
        return stream
    }

    func emit(_ event: Event) {
        let (handlers, streams) = state.withLock { ($0.handlers, Array($0.streams.values)) }
        for handler in handlers { handler(event) }
        for stream in streams { stream.yield(event) }
    }

    /// Streams asked for from now on go on again.
    func reopen() { state.withLock { $0.isFinished = false } }

    /// Drops the handlers, which may keep what has the hub.
    func removeHandlers() { state.withLock { $0.handlers.removeAll() } }

    /// Ends the streams. Those asked for later end at once.
    func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer { state.streams.removeAll() }
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
