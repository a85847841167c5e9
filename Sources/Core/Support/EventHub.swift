/// Delivers events to handlers and async streams. Each receives all events from the moment it was added.
package final class EventHub<Event: Sendable>: Sendable {
    /// Events that a stream keeps for a consumer that falls behind; the oldest are dropped first. Events are rare, but a
    /// flood of them (connections that come and go) must not fill the memory.
    package static var streamBufferCount: Int { 4096 }

    private struct State {
        var handlers: [(token: UInt64, handler: @Sendable (Event) -> Void)] = []
        var streams: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var lastToken: UInt64 = 0
        var isFinished = false
    }

    private let state = Locked(State())

    package init() {}

    deinit { for stream in state.withLock({ $0.streams.values }) { stream.finish() } }

    /// Calls `handler` with every event from now on, on the thread that emits it, in the order of the calls.
    ///
    /// - Returns: a function that removes the handler. A call of the handler that is under way is not interrupted, and a
    ///   second removal has no effect.
    @discardableResult
    package func add(_ handler: @escaping @Sendable (Event) -> Void) -> @Sendable () -> Void {
        let token = state.withLock { state in
            state.lastToken += 1
            state.handlers.append((state.lastToken, handler))
            return state.lastToken
        }
        return { [weak self] in self?.state.withLock { $0.handlers.removeAll { $0.token == token } } }
    }

    /// Removes all handlers, which may retain the hub's owner.
    package func removeHandlers() { state.withLock { $0.handlers.removeAll() } }

    /// A stream of every event from now on, which ends with ``finish()`` or with the hub.
    package func stream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.streamBufferCount))
        let token: UInt64? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.lastToken += 1
            state.streams[state.lastToken] = continuation
            return state.lastToken
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

    /// Delivers an event to every handler and stream. Handlers run before this returns, and no lock is held meanwhile.
    package func emit(_ event: Event) {
        let (handlers, streams) = state.withLock { ($0.handlers, Array($0.streams.values)) }
        for handler in handlers { handler.handler(event) }
        for stream in streams { stream.yield(event) }
    }

    /// Ends the streams. Those asked for later end at once.
    package func finish() {
        let streams = state.withLock { state in
            state.isFinished = true
            defer { state.streams.removeAll() }
            return Array(state.streams.values)
        }
        for stream in streams { stream.finish() }
    }

    /// Streams asked for from now on stay open again.
    package func reopen() { state.withLock { $0.isFinished = false } }
}
