import ElementalWire
import NIOCore

extension Session {
    /// Looks whether what a read brought keeps to the limits.
    func watch(_ batch: DeviceStatistics) {
        if batch.messagesReceived > 0 {
            unknownInARow = 0
        } else {
            unknownInARow += batch.messagesUnknown
        }
        if let limit = device.limits.maximumUnknownCount, unknownInARow > limit {
            let text = "\(unknownInARow) frames in a row of elements that are not known here; the limit is \(limit)"
            return end(DisconnectReason(.protocolViolation(text), isExpected: false), shutdownText: text)
        }
        guard throttle != nil else { return }
        let count =
            batch.messagesReceived + batch.messagesUnknown + batch.messagesMalformed + batch.messagesRejected
        if let end = throttle?.add(count, at: .now()) { goOn(at: end) }
    }

    private func goOn(at time: NIODeadline) {
        context?.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            if let end = throttle?.goOn(at: .now()) { goOn(at: end) } else { resumeReading() }
        }
    }

    /// Drops a peer that takes nothing for too long of what waits for it.
    func watchProgress() {
        guard let limit = device.limits.stuckTimeout, case .none = ending, let context else { return }
        let mark = acknowledgedByteCount
        stuckTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) { [self] in
            stuckTimer = nil
            guard device.outbound.withLock({ $0.isStreamUnsent }) else { return }
            guard acknowledgedByteCount == mark else { return watchProgress() }
            end(
                DisconnectReason(
                    .timedOut("the other end took nothing for \(limit) of what was sent"), isExpected: false))
        }
    }

    /// Bytes that the peer's system has taken. Those that only left for this system's buffer would not do: it holds some
    /// megabytes and asks for more when a third of them is gone, which takes a slow reader many seconds.
    private var acknowledgedByteCount: Int {
        guard let socket, context?.channel.isActive == true else { return writtenByteCount }
        return writtenByteCount &- socket.unacknowledgedByteCount
    }
}
