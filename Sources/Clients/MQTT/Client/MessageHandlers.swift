import Support

/// The handlers of incoming messages, which are called on the event loop.
final class MessageHandlers: Sendable {
    typealias Handler = @Sendable (MQTTMessage) -> Void

    private struct State {
        var handlers: [(token: UInt64, handler: Handler)] = []
        var lastToken: UInt64 = 0
    }

    private let state = Locked(State())

    /// - Returns: a function that removes the handler.
    func add(_ handler: @escaping Handler) -> @Sendable () -> Void {
        let token = state.withLock { state in
            state.lastToken += 1
            state.handlers.append((state.lastToken, handler))
            return state.lastToken
        }
        return { [weak self] in
            // The handler is released when the lock is no longer held.
            _ = self?.state.withLock { state in
                state.handlers.firstIndex { $0.token == token }.map { state.handlers.remove(at: $0) }
            }
        }
    }

    func deliver(_ message: MQTTMessage) {
        let handlers = state.withLock { $0.handlers }
        for (_, handler) in handlers { handler(message) }
    }
}
