/// Those who are told of a device's events: handlers and async streams, each of which gets all of them from when it asked.
struct DeviceEvents {
    typealias Handler = @Sendable (DeviceEvent) -> Void

    /// Events that a stream keeps for a consumer that does not come; the oldest go first. Events are rare, and a flood of
    /// them (connections that come and go) must not fill the memory.
    static let streamBufferCount = 4096

    private var handlers: [(token: UInt64, handler: Handler)] = []
    private var streams: [UInt64: AsyncStream<DeviceEvent>.Continuation] = [:]
    private var lastToken: UInt64 = 0
    private var isFinished = false

    /// - Returns: what ``take(_:)`` takes.
    mutating func add(_ handler: @escaping Handler) -> UInt64 {
        lastToken += 1
        handlers.append((lastToken, handler))
        return lastToken
    }

    /// - Returns: what ``take(_:)`` takes; `nil` if no events come any more.
    mutating func add(_ stream: AsyncStream<DeviceEvent>.Continuation) -> UInt64? {
        guard !isFinished else { return nil }
        lastToken += 1
        streams[lastToken] = stream
        return lastToken
    }

    /// Takes out a handler or a stream. The caller lets go of it when the lock is no longer held.
    mutating func take(_ token: UInt64) -> (Handler?, AsyncStream<DeviceEvent>.Continuation?) {
        let position = handlers.firstIndex { $0.token == token }
        return (position.map { handlers.remove(at: $0).handler }, streams.removeValue(forKey: token))
    }

    /// Those who are told, when the lock is no longer held.
    var listeners: (handlers: [Handler], streams: [AsyncStream<DeviceEvent>.Continuation]) {
        (handlers.map(\.handler), Array(streams.values))
    }

    /// No events come any more: ends the streams that the caller is given, and those asked for later.
    ///
    /// - Parameter keepsHandlers: whether the device may come back.
    mutating func finish(
        keepsHandlers: Bool
    ) -> (handlers: [Handler], streams: [AsyncStream<DeviceEvent>.Continuation]) {
        isFinished = true
        let ended = (keepsHandlers ? [] : handlers.map(\.handler), Array(streams.values))
        if !keepsHandlers { handlers = [] }
        streams = [:]
        return ended
    }

    /// There is a connection again: streams asked for from now on go on.
    mutating func reopen() { isFinished = false }
}
