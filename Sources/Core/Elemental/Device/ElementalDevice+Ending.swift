import Support

extension ElementalDevice {
    /// Calls `handler` when the device ends, or immediately if it has ended.
    ///
    /// - Returns: the token for ``Endings/take(_:)``, or `nil` if the handler has run.
    @discardableResult
    func addEnding(_ handler: @escaping Endings.Handler) -> UInt64? {
        let (token, reason) = state.withLock { ($0.endings.add(handler), $0.endings.reason) }
        if token == nil, let reason { handler(reason) }
        return token
    }

    /// Waits for the device to end; a cancelled wait returns `.cancelled` immediately.
    func waitForEnd() async -> DisconnectReason {
        let ended = Outcome<DisconnectReason>()
        let token = addEnding { ended.resolve($0) }
        if let reason = await ended.value() { return reason }
        if let token { _ = state.withLock { $0.endings.take(token) } }
        return DisconnectReason(.cancelled, isExpected: true)
    }
}
