import Support

/// Runs `body` until it ends, or until Ctrl-C (SIGINT) or SIGTERM, which cancels it; then waits for it, so that the program
/// ends in order.
///
/// ```swift
/// try await untilInterrupted {
///     for await value in device.values(of: Lamp.brightness) { print("The brightness is", value) }
/// }
/// await device.close()
/// ```
/// A second signal ends the process at once with the status 130, and so does a signal while no `body` runs. Signals
/// within 250 ms of the first count as one with it. A `body` that begins after a signal is cancelled at once.
///
/// - Throws: the error of `body`, except a cancellation that follows a signal.
public func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let interrupted = Latch()
    let token = await EndSignals.shared.add { interrupted.open() }
    defer { EndSignals.shared.remove(token) }
    do {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { _ = await interrupted.wait() }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    } catch {
        let isCancellation = error is CancellationError || (error as? ElementalError)?.code == .cancelled
        guard EndSignals.shared.first != nil, isCancellation else { throw error }
    }
}

extension ElementalService {
    /// Listens, publishes and serves until Ctrl-C (SIGINT) or SIGTERM; then it withdraws the service, notifies the devices
    /// and closes. This is ``run()`` within ``untilInterrupted(_:)``.
    ///
    /// - Throws: ``ElementalError`` as ``run()`` does.
    public func runUntilInterrupted() async throws { try await untilInterrupted { try await self.run() } }
}
