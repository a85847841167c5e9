/// What makes the connections of a client's device, as the device asks for them on its event loop.
protocol ConnectionManager: AnyObject {
    /// Connects the device, unless it is connected, and answers the waiter.
    func connect(_ device: ElementalDevice, _ waiter: ConnectionWaiter)
    /// The waiter was cancelled.
    func cancel(_ waiter: ConnectionWaiter)
    /// Ends what there is: a connection in order, everything else at once.
    func disconnect(_ reason: DisconnectReason)
}
