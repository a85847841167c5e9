import NIOConcurrencyHelpers

/// Tells events to handlers and to async streams, each of which gets all of them from when it asked.
final class EventHub<Event: Sendable>: Sendable {
    /// Events that a stream keeps for a consumer that does not come; the oldest go first.
    private static var streamBufferCount: Int { 1024 }

    private struct State {
        var handlers: [@Sendable (Event) -> Void] = []
        var streams: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var last: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())

    deinit { for stream in state.withLockedValue({ $0.streams.values }) { stream.finish() } }

    func add(_ handler: @escaping @Sendable (Event) -> Void) { state.withLockedValue { $0.handlers.append(handler) } }

    func stream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.streamBufferCount))
        let token = state.withLockedValue { state in
            state.last += 1
            state.streams[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLockedValue { $0.streams.removeValue(forKey: token) }
        }
        return stream
    }

    func emit(_ event: Event) {
        let (handlers, streams) = state.withLockedValue { ($0.handlers, Array($0.streams.values)) }
        for handler in handlers { handler(event) }
        for stream in streams { stream.yield(event) }
    }
}
