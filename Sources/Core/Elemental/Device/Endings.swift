/// The end of a device, told once to everyone who asked for it.
final class Endings: Sendable {
    struct State {
        var handlers: [UInt64: @Sendable (DisconnectReason) -> Void] = [:]
        /// Never used twice, also when the device has returned.
        var lastToken: UInt64 = 0
        var reason: DisconnectReason?
    }

    let state = Locked(State())

    var reason: DisconnectReason? { state.withLock { $0.reason } }

    /// Calls `handler` when the end comes, or at once if it has come.
    ///
    /// - Returns: what ``remove(_:)`` takes, or `nil` if the handler has run.
    @discardableResult
    func add(_ handler: @escaping @Sendable (DisconnectReason) -> Void) -> UInt64? {
        let result: (token: UInt64?, reason: DisconnectReason?) = state.withLock { state in
            if let reason = state.reason { return (nil, reason) }
            state.lastToken += 1
            state.handlers[state.lastToken] = handler
            return (state.lastToken, nil)
        }
        if let reason = result.reason { handler(reason) }
        return result.token
    }

    /// Lets go of a handler that nobody needs any more.
    func remove(_ token: UInt64) {
        _ = state.withLock { $0.handlers.removeValue(forKey: token) }
    }

    /// Tells the end. Only the first call counts.
    func end(_ reason: DisconnectReason) {
        let handlers = state.withLock { state in
            if state.reason == nil { state.reason = reason }
            defer { state.handlers = [:] }
            return state.handlers.sorted { $0.key < $1.key }
        }
        for handler in handlers { handler.value(reason) }
    }

    /// There is a connection again, whose end is to be told.
    func reopen() { state.withLock { $0.reason = nil } }

    /// Waits for the end; a cancelled wait answers `.cancelled` at once.
    func wait() async -> DisconnectReason {
        let waiting = Waiting()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.continuation.withLock { $0 = continuation }
                let token = add { waiting.resume($0) }
                waiting.token.withLock { $0 = token }
                // Cancelled before the token was there.
                if Task.isCancelled {
                    waiting.cancel()
                    if let token { remove(token) }
                }
            }
        } onCancel: {
            waiting.cancel()
            if let token = waiting.token.withLock({ $0 }) { remove(token) }
        }
    }

    private final class Waiting: Sendable {
        let continuation = Locked<CheckedContinuation<DisconnectReason, Never>?>(nil)
        let token = Locked<UInt64?>(nil)

        func resume(_ reason: DisconnectReason) { continuation.withLock { $0.take() }?.resume(returning: reason) }

        func cancel() { resume(DisconnectReason(.cancelled, isExpected: true)) }
    }
}
