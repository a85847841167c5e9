import Support

/// Tasks that wait for an answer, each with its token.
struct Waiters<Answer: Sendable> {
    private var waiting: [UInt64: Outcome<Answer>] = [:]
    private var lastToken: UInt64 = 0

    mutating func add(_ answer: Outcome<Answer>) -> UInt64 {
        lastToken += 1
        waiting[lastToken] = answer
        return lastToken
    }

    /// Removes a task, if it still waits.
    mutating func take(_ token: UInt64) -> Outcome<Answer>? { waiting.removeValue(forKey: token) }

    /// Removes all tasks.
    mutating func takeAll() -> [Outcome<Answer>] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
