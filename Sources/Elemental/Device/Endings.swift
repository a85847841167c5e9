/// The end of a device, told once to everyone who asked for it.
final class Endings: Sendable {
    private enum State {
        case open(handlers: [UInt64: @Sendable (DisconnectReason) -> Void], lastToken: UInt64)
        case ended(DisconnectReason)
    }

    private let state = Locked(State.open(handlers: [:], lastToken: 0))

    var reason: DisconnectReason? {
        state.withLock { state in
            guard case .ended(let reason) = state else { return nil }
            return reason
        }
    }

    /// Calls `handler` when the end comes, or at once if it has come.
    ///
    /// - Returns: what `remove` takes, or `nil` if the handler has run.
    @discardableResult
    func add(_ handler: @escaping @Sendable (DisconnectReason) -> Void) -> UInt64? {
        let result: (token: UInt64?, reason: DisconnectReason?) = state.withLock { state in
            switch state {
            case .ended(let reason):
                return (nil, reason)
            case .open(var handlers, let lastToken):
                handlers[lastToken + 1] = handler
                state = .open(handlers: handlers, lastToken: lastToken + 1)
                return (lastToken + 1, nil)
            }
        }
        if let reason = result.reason { handler(reason) }
        return result.token
    }

    /// Tells the end. Only the first call counts.
    func end(_ reason: DisconnectReason) {
        let handlers = state.withLock { state -> [(key: UInt64, value: @Sendable (DisconnectReason) -> Void)] in
            guard case .open(let handlers, _) = state else { return [] }
            state = .ended(reason)
            return handlers.sorted { $0.key < $1.key }
        }
        for handler in handlers { handler.value(reason) }
    }

    /// There is a connection again, whose end is to be told.
    func reopen() {
        state.withLock { state in
            if case .ended = state { state = .open(handlers: [:], lastToken: 0) }
        }
    }

    /// Waits for the end; a cancelled wait answers `.cancelled` at once.
    func wait() async -> DisconnectReason {
        let waiting = Waiting()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.continuation.withLock { $0 = continuation }
                let token = add { waiting.resume($0) }
                if Task.isCancelled { waiting.cancel() }
                waiting.token.withLock { $0 = token }
            }
        } onCancel: {
            waiting.cancel()
            if let token = waiting.token.withLock({ $0 }) { remove(token) }
        }
    }

    private func remove(_ token: UInt64) {
        state.withLock { state in
            guard case .open(var handlers, let lastToken) = state else { return }
            handlers[token] = nil
            state = .open(handlers: handlers, lastToken: lastToken)
        }
    }

    private final class Waiting: Sendable {
        let continuation = Locked<CheckedContinuation<DisconnectReason, Never>?>(nil)
        let token = Locked<UInt64?>(nil)

        func resume(_ reason: DisconnectReason) { continuation.withLock { $0.take() }?.resume(returning: reason) }

        func cancel() { resume(DisconnectReason(.cancelled, isExpected: true)) }
    }
}
