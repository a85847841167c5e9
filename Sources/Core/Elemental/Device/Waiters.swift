import NIOCore

/// Tasks that wait for an answer, each with a timeout.
struct Waiters<Answer: Sendable> {
    struct Waiter {
        let continuation: CheckedContinuation<Answer, Never>
        /// The timer of the timeout.
        var deadline: Scheduled<Void>?

        /// Resumes the task, which has been removed from the list. Not while the lock is held.
        func resume(returning answer: Answer) {
            deadline?.cancel()
            continuation.resume(returning: answer)
        }
    }

    private var waiting: [UInt64: Waiter] = [:]
    private var lastToken: UInt64 = 0

    /// A token for a task that is about to wait.
    mutating func makeToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    mutating func add(_ token: UInt64, _ continuation: CheckedContinuation<Answer, Never>) {
        waiting[token] = Waiter(continuation: continuation)
    }

    /// - Parameter deadline: the timer of the timeout; it is cancelled when the wait ends.
    /// - Returns: whether the task still waits.
    mutating func set(_ deadline: Scheduled<Void>, for token: UInt64) -> Bool {
        waiting[token]?.deadline = deadline
        return waiting[token] != nil
    }

    /// Removes a task, if it still waits.
    mutating func take(_ token: UInt64) -> Waiter? { waiting.removeValue(forKey: token) }

    /// Removes all tasks.
    mutating func takeAll() -> [Waiter] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
