public import ServiceLifecycle

extension ElementalService: Service {
    /// Listens, publishes and serves until the task is cancelled or a service group shuts it down gracefully; then it
    /// withdraws the service, tells the devices and closes.
    ///
    /// - Throws: ``ElementalError`` if the service cannot start, as ``start()`` does.
    public func run() async throws {
        let ends = events
        try await start()
        // The stream ends with the task's cancellation.
        await cancelWhenGracefulShutdown {
            for await event in ends {
                if case .stopped = event { return }
            }
        }
        await stop(reason: "the service has ended")
    }
}
