/// The subscribers to a device's events: handlers and async streams. Each receives all events from its subscription on.
struct DeviceEvents {
    typealias Handler = @Sendable (DeviceEvent) -> Void

    /// Events that a stream buffers for a consumer that falls behind; the oldest are dropped first. Events are rare,
    /// and a flood of them (connections that come and go) must not exhaust memory.
    static let streamBufferCount = 4096

    private var handlers: [(token: UInt64, handler: Handler)] = []
    private var streams: [UInt64: AsyncStream<DeviceEvent>.Continuation] = [:]
    private var lastToken: UInt64 = 0
    private var isFinished = false

    /// - Returns: the token for ``take(_:)``.
    mutating func add(_ handler: @escaping Handler) -> UInt64 {
        lastToken += 1
        handlers.append((lastToken, handler))
        return lastToken
    }

    /// - Returns: the token for ``take(_:)``; `nil` if no further events will follow.
    mutating func add(_ stream: AsyncStream<DeviceEvent>.Continuation) -> UInt64? {
        guard !isFinished else { return nil }
        lastToken += 1
        streams[lastToken] = stream
        return lastToken
    }

    /// Removes a handler or a stream. The caller releases it once the lock is no longer held.
    mutating func take(_ token: UInt64) -> (Handler?, AsyncStream<DeviceEvent>.Continuation?) {
        let position = handlers.firstIndex { $0.token == token }
        return (position.map { handlers.remove(at: $0).handler }, streams.removeValue(forKey: token))
    }

    /// The subscribers to notify, once the lock is no longer held.
    var listeners: (handlers: [Handler], streams: [AsyncStream<DeviceEvent>.Continuation]) {
        (handlers.map(\.handler), Array(streams.values))
    }

    /// No further events will follow: the caller finishes the returned streams, and streams added later are refused.
    ///
    /// - Parameter keepsHandlers: whether to keep the handlers because the device may reconnect.
    mutating func finish(
        keepsHandlers: Bool
    ) -> (handlers: [Handler], streams: [AsyncStream<DeviceEvent>.Continuation]) {
        isFinished = true
        let ended = (keepsHandlers ? [] : handlers.map(\.handler), Array(streams.values))
        if !keepsHandlers { handlers = [] }
        streams = [:]
        return ended
    }

    /// The device is connected again: streams added from now on receive events.
    mutating func reopen() { isFinished = false }
}
