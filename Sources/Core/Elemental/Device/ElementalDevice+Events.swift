extension ElementalDevice {
    /// Delivers the event to all subscribers. Handlers run before this returns.
    func emit(_ event: DeviceEvent) {
        let listeners = state.withLock { $0.events.listeners }
        for handler in listeners.handlers { handler(event) }
        for stream in listeners.streams { stream.yield(event) }
    }

    /// Calls `handler` with every event from now on.
    ///
    /// - Returns: a closure that removes the handler.
    @discardableResult
    func addEventHandler(_ handler: @escaping DeviceEvents.Handler) -> @Sendable () -> Void {
        let token = state.withLock { $0.events.add(handler) }
        return { [state] in _ = state.withLock { $0.events.take(token) } }
    }

    func makeEventStream() -> AsyncStream<DeviceEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DeviceEvent.self, bufferingPolicy: .bufferingNewest(DeviceEvents.streamBufferCount))
        if let token = state.withLock({ $0.events.add(continuation) }) {
            continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.events.take(token) } }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// No further events will follow.
    func finishEvents() {
        // A device whose peer is a client never reconnects; its handlers are released because they may retain the
        // device.
        let ended = state.withLock { $0.events.finish(keepsHandlers: role == .service) }
        for stream in ended.streams { stream.finish() }
    }
}
