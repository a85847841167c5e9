import NIOCore

extension ElementalDevice {
    /// Waits until somebody answers.
    ///
    /// - Parameters:
    ///   - list: where the task waits, with a token of the list's.
    ///   - timeout: how long.
    ///   - begin: called when an answer can be taken; it may give one itself.
    ///   - late: the answer when the time is over.
    ///   - cancelled: the answer when the task is cancelled.
    func wait<Answer: Sendable>(
        in list: any WritableKeyPath<DeviceState, Waiters<Answer>> & Sendable, as token: UInt64, _ timeout: Duration,
        late: Answer, cancelled: Answer, begin: () -> Answer?
    ) async -> Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0[keyPath: list].add(token, continuation) }
                // Only now: a short time may be over before this thread goes on.
                let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) { self.answer(list, token, late) }
                if !state.withLock({ $0[keyPath: list].set(deadline, for: token) }) { deadline.cancel() }
                if let given = begin() { answer(list, token, given) }
                if Task.isCancelled { answer(list, token, cancelled) }
            }
        } onCancel: {
            answer(list, token, cancelled)
        }
    }

    /// Answers a task that waits, if it still does.
    func answer<Answer: Sendable>(
        _ list: WritableKeyPath<DeviceState, Waiters<Answer>>, _ token: UInt64, _ answer: Answer
    ) {
        state.withLock { $0[keyPath: list].take(token) }?.resume(returning: answer)
    }

    /// Answers all that wait.
    func answerAll<Answer: Sendable>(_ list: WritableKeyPath<DeviceState, Waiters<Answer>>, _ answer: Answer) {
        for waiter in state.withLock({ $0[keyPath: list].takeAll() }) { waiter.resume(returning: answer) }
    }
}
