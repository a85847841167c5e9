extension ElementalDevice {
    /// Tells everyone who wants to know. Handlers run before this returns.
    func emit(_ event: DeviceEvent) {
        let listeners = state.withLock { $0.events.listeners }
        for handler in listeners.handlers { handler(event) }
        for stream in listeners.streams { stream.yield(event) }
    }

    /// Calls `handler` with every event from now on.
    ///
    /// - Returns: what removes it again.
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

    /// No events come any more.
    func finishEvents() {
        // A service's device never comes back; its handlers may keep it.
        let ended = state.withLock { $0.events.finish(keepsHandlers: role == .service) }
        for stream in ended.streams { stream.finish() }
    }
}
