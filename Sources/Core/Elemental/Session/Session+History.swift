import ElementalHistory
import ElementalWire
import NIOCore

/// Requests for values of the past, at the service. An answer has 4 KiB or a single longer value, and is queued while fewer
/// than 4 KiB wait in the queue. So a client gets as much as it asks for, and a live value waits behind two answers at most.
extension Session {
    /// How many requests of a client may wait: one of each element, and some more.
    static let maximumHistoryRequestCount = 144

    func receive(_ request: HistoryRequest) {
        if request.isCancelled { return historyRequests.removeAll { $0.token == request.token } }
        guard historyRequests.count < Self.maximumHistoryRequestCount else {
            return queueHistory(HistoryAnswer.refusal(.tooMany, token: request.token))
        }
        historyRequests.append(request)
        answerHistoryRequests()
    }

    /// Answers those that can be answered.
    func answerHistoryRequests() {
        guard isOpen, isReady, let histories = owner?.histories else { return }
        // Its end makes the histories forget it.
        let session = NIOLoopBound(self, eventLoop: device.eventLoop)
        historyRequests.removeAll { request in
            guard device.outbound.withLock({ $0.stream.byteCount < HistoryAnswer.fullByteCount }) else {
                awaitsHistoryRoom = true
                return false
            }
            // The role may have changed since.
            let mayRead = !device.outbound.withLock { $0.peer.lacks(request.element) }
            guard mayRead, let element = receiver.table.catalogue[id: request.element], element.access.contains(.read)
            else {
                queueHistory(HistoryAnswer.refusal(.unknown, token: request.token))
                return true
            }
            let answer = histories.answer(request, element, for: ObjectIdentifier(self)) {
                session.eventLoop.execute { session.value.batch { session.value.answerHistoryRequests() } }
            }
            if let answer { queueHistory(answer) }
            return answer != nil
        }
    }

    /// The queue has become shorter.
    func answerHistoryRequestsLater() {
        guard awaitsHistoryRoom else { return }
        awaitsHistoryRoom = false
        device.eventLoop.assumeIsolated().execute { [self] in batch { answerHistoryRequests() } }
    }

    /// A client that asks and reads nothing gets no more than there is room for.
    private func queueHistory(_ bytes: [UInt8]) {
        device.outbound.withLock { outbound in bytes.withUnsafeBytes { _ = outbound.appendAnswer(.history, $0) } }
    }
}
