import Support

/// The subscribers to a device's events lie under the device's lock.
extension ElementalDevice: EventSource {
    package func withSubscribers<Result>(_ body: (inout EventSubscribers<DeviceEvent>) -> Result) -> Result {
        state.withLock { body(&$0.events) }
    }

    /// No further events will follow.
    func finishEvents() {
        finishEventStreams()
        // A device whose peer is a client never reconnects; its handlers are released because they may retain the
        // device.
        if role == .client { removeEventHandlers() }
    }
}
