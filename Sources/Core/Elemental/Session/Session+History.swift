import ElementalHistory
import ElementalWire
import NIOCore

/// Answers a client's history requests. An answer has 4 KiB or a single longer value, and is queued only while fewer than 4 KiB
/// are queued, so a live value waits behind at most two answers.
extension Session {
    /// The maximum number of a client's pending requests: one for each element, and some more.
    static let maximumHistoryRequestCount = 144
    /// The maximum number of requests in one batch of reads. More end the connection, because they would delay other clients.
    static let maximumHistoryBurst = 512

    func receive(_ request: HistoryRequest) {
        receiver.counts.historyRequests += 1
        if receiver.counts.historyRequests > Self.maximumHistoryBurst {
            let text = "more than \(Self.maximumHistoryBurst) history requests arrived at once"
            return fail(.protocolViolation(text), shutdownText: text)
        }
        if request.isCancelled {
            historyRequests.removeAll { $0.token == request.token }
            historyFollowers.removeAll { $0.token == request.token }
        } else if historyRequests.count + historyFollowers.count < Self.maximumHistoryRequestCount {
            historyRequests.append(request)
            takeHistoryTurn()
        } else {
            queueHistory(HistoryAnswer.refusal(.tooMany, token: request.token))
        }
    }

    /// Queues for a turn if there is a request to answer and room for the answer.
    func takeHistoryTurn() {
        guard !historyRequests.isEmpty, !hasHistoryTurn, isOpen, isReady, let turns = owner?.historyTurns else {
            return
        }
        awaitsHistoryRoom = queuedByteCount >= HistoryAnswer.fullByteCount
        guard !awaitsHistoryRoom else { return }
        hasHistoryTurn = true
        turns.add(self)
    }

    /// Answers the first request that does not wait for a value.
    func answerHistoryRequest() {
        hasHistoryTurn = false
        guard isOpen, isReady, queuedByteCount < HistoryAnswer.fullByteCount,
            let histories = owner?.historyTurns?.histories
        else { return }
        while let request = historyRequests.popFirst() {
            guard let answer = answer(request, histories) else {
                historyFollowers.append(request)
                continue
            }
            if queueHistory(answer) { return }
            // A value that is longer than the queue can never be sent.
            guard queuedByteCount == 0 else { return historyRequests.prepend(request) }
            queueHistory(HistoryAnswer.refusal(.tooMany, token: request.token))
            return
        }
    }

    private var queuedByteCount: Int { device.outbound.withLock { $0.stream.byteCount } }

    /// - Returns: `nil` if the request waits for a value.
    private func answer(_ request: HistoryRequest, _ histories: ServiceHistories) -> [UInt8]? {
        // The role may have changed since.
        let mayRead = !device.outbound.withLock { $0.peer.lacks(request.element) }
        guard mayRead, let element = receiver.table.catalogue[id: request.element], element.access.contains(.read)
        else { return HistoryAnswer.refusal(.unknown, token: request.token) }
        // When the session ends, the histories forget it.
        let session = NIOLoopBound(self, eventLoop: device.eventLoop)
        return histories.answer(request, element, for: ObjectIdentifier(self)) {
            session.eventLoop.execute { session.value.answerFollowers(element.id) }
        }
    }

    /// The element has a new value: answers the requests that wait for it.
    private func answerFollowers(_ element: Int8) {
        historyRequests += historyFollowers.filter { $0.element == element }
        historyFollowers.removeAll { $0.element == element }
        takeHistoryTurn()
    }

    /// - Returns: whether there was room for it.
    @discardableResult
    private func queueHistory(_ answer: [UInt8]) -> Bool {
        device.outbound.withLock { outbound in answer.withUnsafeBytes { outbound.appendAnswer(.history, $0) } }
    }
}
