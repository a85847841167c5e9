/// An ``EventSource`` with its own lock. Its release ends its streams.
package final class EventHub<Event: Sendable>: EventSource {
    private let subscribers = Locked(EventSubscribers<Event>())

    package init() {}

    deinit { finishEventStreams() }

    package func withSubscribers<Result>(_ body: (inout EventSubscribers<Event>) -> Result) -> Result {
        subscribers.withLock(body)
    }
}
