import ElementalHistory
import ElementalWire
import NIOCore

/// Requests for values of the past, at the service. An answer has 4 KiB or a single longer value, and is queued while fewer
/// than 4 KiB wait in the queue. So a client gets as much as it asks for, and a live value waits behind two answers at most.
extension Session {
    /// How many requests of a client may wait: one of each element, and some more.
    static let maximumHistoryRequestCount = 144
    /// How many requests may come at once. More end the connection, so that they do not delay other clients.
    static let maximumHistoryBurst = 512

    func receive(_ request: HistoryRequest) {
        receiver.counts.historyRequests += 1
        if receiver.counts.historyRequests > Self.maximumHistoryBurst {
            let text = "more than \(Self.maximumHistoryBurst) requests for histories came at once"
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

    /// Takes a turn if there is something to answer, and room for an answer.
    func takeHistoryTurn() {
        guard !historyRequests.isEmpty, !hasHistoryTurn, isOpen, isReady, let turns = owner?.historyTurns else {
            return
        }
        awaitsHistoryRoom = device.outbound.withLock { $0.stream.byteCount >= HistoryAnswer.fullByteCount }
        guard !awaitsHistoryRoom else { return }
        hasHistoryTurn = true
        turns.add(self)
    }

    /// Answers one request. Those before it that wait for a value are put aside.
    func answerHistoryRequest() {
        hasHistoryTurn = false
        guard isOpen, isReady, let histories = owner?.historyTurns?.histories else { return }
        while let request = historyRequests.popFirst() {
            if let answer = answer(request, histories) {
                queueHistory(answer)
                break
            }
            historyFollowers.append(request)
        }
    }

    /// - Returns: `nil` if the request waits for a value.
    private func answer(_ request: HistoryRequest, _ histories: ServiceHistories) -> [UInt8]? {
        // The role may have changed since.
        let mayRead = !device.outbound.withLock { $0.peer.lacks(request.element) }
        guard mayRead, let element = receiver.table.catalogue[id: request.element], element.access.contains(.read)
        else { return HistoryAnswer.refusal(.unknown, token: request.token) }
        // Its end makes the histories forget it.
        let session = NIOLoopBound(self, eventLoop: device.eventLoop)
        return histories.answer(request, element, for: ObjectIdentifier(self)) {
            session.eventLoop.execute { session.value.stopFollowing(element.id) }
        }
    }

    /// The element has a value: those that wait for it are answered.
    private func stopFollowing(_ element: Int8) {
        historyRequests += historyFollowers.filter { $0.element == element }
        historyFollowers.removeAll { $0.element == element }
        takeHistoryTurn()
    }

    /// A client that asks and reads nothing gets no more than there is room for.
    private func queueHistory(_ bytes: [UInt8]) {
        device.outbound.withLock { outbound in bytes.withUnsafeBytes { _ = outbound.appendAnswer(.history, $0) } }
    }
}
