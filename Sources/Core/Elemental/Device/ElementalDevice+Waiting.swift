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

/// Tasks that wait for an answer, each with its token.
struct Waiters<Answer: Sendable> {
    private var waiting: [UInt64: Outcome<Answer>] = [:]
    private var lastToken: UInt64 = 0

    mutating func add(_ answer: Outcome<Answer>) -> UInt64 {
        lastToken += 1
        waiting[lastToken] = answer
        return lastToken
    }

    mutating func take(_ token: UInt64) -> Outcome<Answer>? { waiting.removeValue(forKey: token) }

    mutating func takeAll() -> [Outcome<Answer>] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
