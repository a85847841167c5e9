import Support

extension ElementalDevice {
    /// Waits until the connection has ended and will not be replaced.
    ///
    /// - Returns: why it ended.
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/cancelled`` if the waiting task is cancelled, which
    ///   leaves the connection untouched.
    public func waitUntilDisconnected() async throws(ElementalError) -> DisconnectReason {
        let ended = Outcome<DisconnectReason>()
        let ending = addEnding { ended.resolve($0) }
        if let reason = await ended.value() { return reason }
        ending.cancel()
        throw ElementalError(.cancelled, "the wait for the end of the connection was cancelled")
    }

    /// Calls `handler` once, on the connection's event loop, when the connection has ended and will not be replaced;
    /// immediately if that has already happened.
    @discardableResult
    public func onDisconnect(
        _ handler: @escaping @Sendable (DisconnectReason, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        addEnding { reason in handler(reason, self) }
    }

    /// Calls `handler` when the device ends, or immediately if it has ended.
    @discardableResult
    @usableFromInline
    func addEnding(_ handler: @escaping @Sendable (DisconnectReason) -> Void) -> HandlerRegistration {
        let (token, reason) = state.withLock { ($0.endings.add(handler), $0.endings.reason) }
        if token == nil, let reason { handler(reason) }
        return HandlerRegistration { [state] in if let token { _ = state.withLock { $0.endings.take(token) } } }
    }
}
