import NIOCore

extension ElementalDevice {
    /// Waits for an answer.
    ///
    /// - Parameters:
    ///   - list: the list in which the task waits, and which made the token.
    ///   - timeout: how long to wait.
    ///   - begin: called once answers can be delivered; it may return one itself.
    ///   - late: the answer on timeout.
    ///   - cancelled: the answer on cancellation.
    func wait<Answer: Sendable>(
        in list: any WritableKeyPath<DeviceState, Waiters<Answer>> & Sendable, as token: UInt64, _ timeout: Duration,
        late: Answer, cancelled: Answer, begin: () -> Answer?
    ) async -> Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0[keyPath: list].add(token, continuation) }
                // Only after the task is in the list: a short timeout may expire before this thread continues.
                let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) { self.answer(list, token, late) }
                if !state.withLock({ $0[keyPath: list].set(deadline, for: token) }) { deadline.cancel() }
                if let given = begin() { answer(list, token, given) }
                if Task.isCancelled { answer(list, token, cancelled) }
            }
        } onCancel: {
            answer(list, token, cancelled)
        }
    }

    /// Resumes a waiting task with the answer, if it still waits.
    func answer<Answer: Sendable>(
        _ list: WritableKeyPath<DeviceState, Waiters<Answer>>, _ token: UInt64, _ answer: Answer
    ) {
        state.withLock { $0[keyPath: list].take(token) }?.resume(returning: answer)
    }

    /// Resumes all waiting tasks with the answer.
    func answerAll<Answer: Sendable>(_ list: WritableKeyPath<DeviceState, Waiters<Answer>>, _ answer: Answer) {
        for waiter in state.withLock({ $0[keyPath: list].takeAll() }) { waiter.resume(returning: answer) }
    }
}
