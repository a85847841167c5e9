extension ElementalDevice {
    /// Calls `handler` when the device ends, or immediately if it has ended.
    ///
    /// - Returns: the token for ``Endings/take(_:)``, or `nil` if the handler has run.
    @discardableResult
    func addEnding(_ handler: @escaping Endings.Handler) -> UInt64? {
        let (token, reason) = state.withLock { state in
            let token = state.endings.makeToken()
            return (token, state.endings.add(token, handler))
        }
        guard let reason else { return token }
        handler(reason)
        return nil
    }

    /// Waits for the device to end; a cancelled wait returns `.cancelled` immediately.
    func waitForEnd() async -> DisconnectReason {
        let cancelled = DisconnectReason(.cancelled, isExpected: true)
        let token = state.withLock { $0.endings.makeToken() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: DisconnectReason? = state.withLock { state in
                    if Task.isCancelled { return state.endings.reason ?? cancelled }
                    return state.endings.add(token) { continuation.resume(returning: $0) }
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.endings.take(token) }?(cancelled)
        }
    }
}
