public import ServiceLifecycle

extension ElementalService: Service {
    /// Listens, publishes and serves until the task is cancelled or a service group shuts it down gracefully; then it
    /// withdraws the service, notifies the devices and closes.
    ///
    /// - Throws: ``ElementalError`` if the service cannot start, as ``start()`` does, or cannot go on:
    ///   ``ServiceEvent/failed(_:)``.
    public func run() async throws {
        try await start()
        // `nil` if the service was stopped already.
        if let ended { await cancelWhenGracefulShutdown { _ = await ended.wait() } }
        await stop(reason: "the service has ended")
        try await waitUntilStopped()
    }
}
