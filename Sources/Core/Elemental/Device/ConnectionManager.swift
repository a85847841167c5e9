/// Establishes the connections of a client's device. Called by the device on its event loop.
protocol ConnectionManager: AnyObject {
    /// Connects the device, unless it is connected, and resumes the waiter.
    func connect(_ device: ElementalDevice, _ waiter: ConnectionWaiter)
    /// The waiter was cancelled.
    func cancel(_ waiter: ConnectionWaiter)
    /// Ends what is active: an established connection gracefully, everything else immediately.
    func disconnect(_ reason: DisconnectReason)
}
