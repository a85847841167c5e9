import NIOCore
import Support

extension ElementalDevice {
    /// Returns the connection's events from now on. When the device ends, the stream finishes after
    /// ``DeviceEvent/disconnected(_:)``. A stream that finishes without this event was cancelled, or requested after
    /// the end: see ``disconnectReason``.
    public func events() -> AsyncStream<DeviceEvent> { makeEventStream() }

    /// Calls `handler` with all events of the connection, on its event loop. It must not block.
    ///
    /// The device retains the handler until its registration is cancelled, so a handler that uses the device should
    /// capture it weakly.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (DeviceEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(addEventHandler(handler))
    }

    /// Whether the connection was lost and a replacement is awaited.
    public var isReconnecting: Bool { outbound.withLock { $0.isAway } }

    /// Reconnects a device that has ended, for whatever reason.
    ///
    /// Its handlers, newest values and statistics are preserved; its streams have finished, and handlers added with
    /// ``onDisconnect(_:)`` have run, so create new ones. A device that was found by Zeroconf connects to the last
    /// known address of its service. A device that is reconnecting makes its next attempt immediately, and one that is
    /// connected is left unchanged.
    ///
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/connectionFailed``,
    ///   ``ElementalError/Code/hostNotFound``, ``ElementalError/Code/timedOut``, ``ElementalError/Code/refused``,
    ///   ``ElementalError/Code/unauthenticated``, ``ElementalError/Code/catalogueMismatch``,
    ///   ``ElementalError/Code/invalidCatalogue``, ``ElementalError/Code/notPaired``,
    ///   ``ElementalError/Code/identityChanged``, ``ElementalError/Code/notAuthorised``,
    ///   ``ElementalError/Code/cancelled``; ``ElementalError/Code/notConnected`` if a reconnection in progress ended
    ///   the device; ``ElementalError/Code/invalidState`` if the peer is a client: only the client can connect.
    public func reconnect() async throws(ElementalError) { try await connect(closesWhenCancelled: false) }
}

extension ElementalDevice {
    /// - Parameter closesWhenCancelled: whether cancelling the wait also closes a connection that has been established
    ///   in the meantime.
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

/// The device's lock guards its subscribers.
extension ElementalDevice: EventSource {
    package func withSubscribers<Result>(_ body: (inout EventSubscribers<DeviceEvent>) -> Result) -> Result {
        state.withLock { body(&$0.events) }
    }
}
