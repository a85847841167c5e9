import Support

/// A model's hold on its connection, which ends with the model: its `deinit` may run on any thread.
final class DeviceLink: Sendable {
    private struct State {
        var device: ElementalDevice?
        /// Connects.
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// The device, from its first connection on.
    var device: ElementalDevice? { state.withLock { $0.device } }

    func hold(_ device: ElementalDevice) { state.withLock { $0.device = device } }

    /// The task that connects, which replaces an earlier one.
    func hold(_ task: Task<Void, Never>) { state.withLock { $0.task = task } }

    func cancelTask() { state.withLock { $0.task }?.cancel() }

    /// Ends the connection, and attempts to make one.
    func close() {
        cancelTask()
        device?.disconnect()
    }
}
