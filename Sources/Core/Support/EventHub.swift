/// An ``EventSource`` with a lock of its own. Its streams end with it.
package final class EventHub<Event: Sendable>: EventSource {
    private let subscribers = Locked(EventSubscribers<Event>())

    package init() {}

    deinit { finishEventStreams() }

    package func withSubscribers<Result>(_ body: (inout EventSubscribers<Event>) -> Result) -> Result {
        subscribers.withLock(body)
    }
}
