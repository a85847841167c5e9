package import NIOCore

/// A gate for tasks: they wait while it is closed. It starts closed.
package final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [UInt64: (continuation: CheckedContinuation<Bool, Never>, deadline: Scheduled<Void>?)] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Lets all tasks through, now and until ``close()``.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting.removeAll() }
            return Array(state.waiting.values)
        }
        for entry in waiting {
            entry.deadline?.cancel()
            entry.continuation.resume(returning: true)
        }
    }

    package func close() { state.withLock { $0.isOpen = false } }

    /// Waits until the latch is open.
    ///
    /// - Returns: `false` if the task was cancelled.
    @discardableResult
    package func wait() async -> Bool { await wait(limit: nil) }

    /// Waits until the latch is open.
    ///
    /// - Returns: `false` if the timeout expired or the task was cancelled first.
    package func wait(_ timeout: Duration, on eventLoop: any EventLoop) async -> Bool {
        await wait(limit: (TimeAmount(timeout), eventLoop))
    }

    private func wait(limit: (time: TimeAmount, eventLoop: any EventLoop)?) async -> Bool {
        let token = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.isOpen { return true }
                    if Task.isCancelled { return false }
                    state.waiting[token] = (continuation, nil)
                    return nil
                }
                if let answer { return continuation.resume(returning: answer) }
                guard let limit else { return }
                // Scheduled after the continuation is stored: a short timeout may expire before this thread goes on.
                let deadline = limit.eventLoop.scheduleTask(in: limit.time) { self.giveUp(token) }
                let isWaiting = state.withLock { state in
                    state.waiting[token]?.deadline = deadline
                    return state.waiting[token] != nil
                }
                if !isWaiting { deadline.cancel() }
            }
        } onCancel: {
            giveUp(token)
        }
    }

    private func giveUp(_ token: UInt64) {
        guard let entry = state.withLock({ $0.waiting.removeValue(forKey: token) }) else { return }
        entry.deadline?.cancel()
        entry.continuation.resume(returning: false)
    }
}
