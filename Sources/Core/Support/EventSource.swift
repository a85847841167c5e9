/// Delivers events to handlers and async streams. Each receives all events from its subscription on.
///
/// The lock of the subscribers may guard other state as well. It is never held while a handler is called or released.
package protocol EventSource<Event>: AnyObject, Sendable {
    associatedtype Event: Sendable

    /// Runs `body` with exclusive access to the subscribers.
    func withSubscribers<Result>(_ body: (inout EventSubscribers<Event>) -> Result) -> Result
}

extension EventSource {
    /// Delivers an event to every handler and stream. Handlers run before this returns, in the order in which they were
    /// added.
    package func emit(_ event: Event) {
        let (handlers, streams) = withSubscribers { ($0.handlers.all, $0.streams.all) }
        for handler in handlers { handler(event) }
        for stream in streams { stream.yield(event) }
    }

    /// Calls `handler` with every event from now on, on the thread that emits it.
    ///
    /// - Returns: a function that removes the handler. A call of the handler that is in progress is not interrupted, and a
    ///   second removal has no effect.
    @discardableResult
    package func addEventHandler(_ handler: @escaping @Sendable (Event) -> Void) -> @Sendable () -> Void {
        let token = withSubscribers { $0.handlers.add(handler) }
        return { [weak self] in _ = self?.withSubscribers { $0.handlers.take(token) } }
    }

    /// Removes all handlers. They may retain the source.
    package func removeEventHandlers() { _ = withSubscribers { $0.handlers.takeAll() } }

    /// A stream of every event from now on, which ends with ``finishEventStreams()``.
    package func makeEventStream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(EventSubscribers<Event>.streamBufferCount))
        if let token = withSubscribers({ $0.add(continuation) }) {
            continuation.onTermination = { [weak self] _ in _ = self?.withSubscribers { $0.streams.take(token) } }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Ends the streams. Streams requested later end immediately, until ``EventSubscribers/reopen()``.
    package func finishEventStreams() {
        for stream in withSubscribers({ $0.finish() }) { stream.finish() }
    }
}
