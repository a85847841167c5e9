import NIOCore
import Support

extension ElementalDevice {
    /// Waits for an answer.
    ///
    /// - Parameters:
    ///   - list: the list in which the task waits.
    ///   - timeout: how long to wait.
    ///   - late: the answer on timeout.
    ///   - begin: called with the task's token once answers can be delivered; it may return one itself.
    /// - Returns: `nil` on cancellation.
    func wait<Answer: Sendable>(
        in list: any WritableKeyPath<DeviceState, Waiters<Answer>> & Sendable, _ timeout: Duration, late: Answer,
        begin: (UInt64) -> Answer?
    ) async -> Answer? {
        let answer = Outcome<Answer>()
        let token = state.withLock { $0[keyPath: list].add(answer) }
        if let given = begin(token) { answer.resolve(given) }
        defer { _ = state.withLock { $0[keyPath: list].take(token) } }
        return await answer.value(within: TimeAmount(timeout), on: eventLoop) { late }
    }

    /// Resumes a waiting task with the answer, if it still waits.
    func answer<Answer: Sendable>(
        _ list: WritableKeyPath<DeviceState, Waiters<Answer>>, _ token: UInt64, _ answer: Answer
    ) {
        state.withLock { $0[keyPath: list].take(token) }?.resolve(answer)
    }

    /// Resumes all waiting tasks with the answer.
    func answerAll<Answer: Sendable>(_ list: WritableKeyPath<DeviceState, Waiters<Answer>>, _ answer: Answer) {
        for waiter in state.withLock({ $0[keyPath: list].takeAll() }) { waiter.resolve(answer) }
    }
}

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
