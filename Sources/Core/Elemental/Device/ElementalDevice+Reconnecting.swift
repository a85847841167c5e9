import NIOCore

extension ElementalDevice {
    /// What happens to the connection, from now on; each call gives a stream of its own, which ends with the device.
    public var events: AsyncStream<DeviceEvent> { makeEventStream() }

    /// Calls `handler` with everything that happens to the connection, on its event loop. It must not block.
    ///
    /// The device keeps the handler until that is cancelled, so a handler that uses the device captures it weakly.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (DeviceEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(addEventHandler(handler))
    }

    /// Whether the connection was lost and another is to take its place.
    public var isReconnecting: Bool { outbound.withLock { $0.isAway } }

    /// Connects a stopped device again: one that was closed, or that ended for another reason.
    ///
    /// Its handlers, newest values and statistics are those from before; its streams have ended, and what was given to
    /// ``onDisconnect(_:)`` has run, so ask for new ones. Where the device was found by Zeroconf, it goes to where its
    /// service was last. A device that is reconnecting makes its next attempt at once, and one that is connected is left
    /// as it is.
    ///
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/connectionFailed``,
    ///   ``ElementalError/Code/timedOut``, ``ElementalError/Code/refused``, ``ElementalError/Code/catalogueMismatch``,
    ///   ``ElementalError/Code/invalidCatalogue``, ``ElementalError/Code/cancelled``; ``ElementalError/Code/notConnected`` if a reconnection that was under way
    ///   ended the device; ``ElementalError/Code/invalidState`` for a service's device: it is the client that connects.
    public func reconnect() async throws(ElementalError) { try await connect(closesWhenCancelled: false) }
}

extension ElementalDevice {
    /// Connects, for the first time or again.
    ///
    /// - Parameter closesWhenCancelled: whether a cancelled wait closes also a connection that is there by then.
    func connect(closesWhenCancelled: Bool) async throws(ElementalError) {
        guard let manager else {
            throw ElementalError(
                .invalidState, "'\(name)' is a client of this program's service; it has to connect itself")
        }
        let waiter = ConnectionWaiter(eventLoop, closesWhenCancelled: closesWhenCancelled)
        do {
            try await withTaskCancellationHandler {
                eventLoop.execute { manager.value.connect(self, waiter) }
                try await waiter.result.get()
            } onCancel: {
                waiter.cancel()
                eventLoop.execute { manager.value.cancel(waiter) }
            }
        } catch let error as ElementalError {
            throw error
        } catch {
            throw ElementalError(.connectionFailed, "cannot connect to '\(name)'", cause: error)
        }
    }
}
