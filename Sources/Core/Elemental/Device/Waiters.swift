import NIOCore

/// Tasks that wait for an answer, each for a limited time.
struct Waiters<Answer: Sendable> {
    struct Waiter {
        let continuation: CheckedContinuation<Answer, Never>
        /// The timer that ends the wait.
        var deadline: Scheduled<Void>?

        /// Answers the task, which was taken out. Not while the lock is held.
        func resume(returning answer: Answer) {
            deadline?.cancel()
            continuation.resume(returning: answer)
        }
    }

    private var waiting: [UInt64: Waiter] = [:]
    private var lastToken: UInt64 = 0

    /// A number for a task that is about to wait.
    mutating func makeToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    mutating func add(_ token: UInt64, _ continuation: CheckedContinuation<Answer, Never>) {
        waiting[token] = Waiter(continuation: continuation)
    }

    /// - Parameter deadline: the timer that ends the wait; it is cancelled with it.
    /// - Returns: whether the task still waits.
    mutating func set(_ deadline: Scheduled<Void>, for token: UInt64) -> Bool {
        waiting[token]?.deadline = deadline
        return waiting[token] != nil
    }

    /// Takes out a task, if it still waits.
    mutating func take(_ token: UInt64) -> Waiter? { waiting.removeValue(forKey: token) }

    /// Takes out all.
    mutating func takeAll() -> [Waiter] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
