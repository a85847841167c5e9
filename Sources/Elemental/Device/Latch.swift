import NIOCore

/// Something that happens once and that tasks wait for.
final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [UInt64: (continuation: CheckedContinuation<Bool, Never>, deadline: Scheduled<Void>?)] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())

    /// Lets everyone through, now and later.
    func open() {
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

    /// Waits until the latch is open.
    ///
    /// - Returns: `false` if the time was over first or the task was cancelled.
    func wait(_ timeout: Duration, on eventLoop: any EventLoop) async -> Bool {
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
                // Only now: a short time may be over before this thread goes on.
                let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) { self.giveUp(token) }
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
