import ElementalWire
import NIOCore
import Support

/// A connection ends in order: queued data is sent, then this side is closed, then the peer's close is awaited, all within
/// the timeout for closing. Closing both sides at once would lose data in flight: a system that closes a socket with
/// unread input resets the connection, and the reset overtakes the last frames.
extension Session {
    enum Ending {
        case none
        case draining
        /// This side is closed, and the peer's close is awaited.
        case closed
        case over
    }

    /// Ends the connection because of a frame, an error or a timeout.
    ///
    /// - Parameter shutdownText: the text that a service sends its client before it closes.
    func fail(_ kind: DisconnectReason.Kind, shutdownText: String? = nil) {
        let reason = DisconnectReason(kind)
        logger.debug("ending connection", metadata: ["device": "\(device.name)", "reason": "\(reason)"])
        if case .networkError = kind { return breakOff(reason) }
        close(reason, shutdownText: device.role == .client ? shutdownText : nil)
    }

    /// - Parameter waits: whether the connection stays open until the client has closed it. If not, the reason is lost
    ///   if data from the client is still unread.
    func refuse(_ text: String, waits: Bool = true) {
        logger.info("connection refused", metadata: ["device": "\(device)", "reason": "\(text)"])
        close(DisconnectReason(.closedHere), shutdownText: "refused: \(text)", waits: waits)
    }

    func abandon() {
        let channel = bytes.channel
        channelEnded(DisconnectReason(.cancelled))
        channel?.close(promise: nil)
    }

    func react(to finding: Watchdog.Finding) {
        switch finding {
        case .handshakeTimedOut:
            guard !isReady else { return }
            let text = "\(handshake.awaited) did not arrive within \(device.limits.handshakeTimeout)"
            fail(.timedOut(text), shutdownText: awaitsName ? "refused: \(text)" : nil)
        case .needsPing:
            sender.queue(.ping, repeatElement(0, count: MemoryLayout<UInt64>.size))
            flush()
        case .silent:
            let silence = device.limits.maximumSilence.map { "\($0)" } ?? ""
            logger.debug("the peer is dead", metadata: ["device": "\(device.name)", "silence": "\(silence)"])
            let text = "the peer sent nothing for \(silence), not even an answer to a ping"
            breakOff(DisconnectReason(.timedOut(text)))
        case .stuck:
            let limit = device.limits.stuckTimeout.map { "\($0)" } ?? ""
            fail(.timedOut("the peer accepted no data for \(limit)"))
        }
    }

    func close() { close(DisconnectReason(.closedHere)) }

    func close(_ reason: DisconnectReason, shutdownText: String? = nil, waits: Bool = true) {
        guard isOpen else { return }
        beginEnding(.draining, reason)
        stopSending(reason)
        if let shutdownText, !shutdownText.isEmpty {
            sender.queue(.shutdown, shutdownText.utf8.prefix(SystemElement.maximumNameByteCount))
        }
        // The channel keeps the session alive while there is something to close.
        device.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(device.limits.closeTimeout)) { [weak self] in
            self?.bytes.close()
        }
        // A paused connection reads too: otherwise the peer's close goes unnoticed.
        bytes.read()
        flush()
        if !waits { bytes.close() }
    }

    /// Ends a connection on which nothing can be sent any more.
    private func breakOff(_ reason: DisconnectReason) {
        if isOpen { beginEnding(.closed, reason) }
        bytes.close()
    }

    /// Closes this side, because everything is sent.
    func closeOutput() {
        guard ending == .draining else { return }
        ending = .closed
        bytes.closeOutput()
    }

    /// - Parameter fallback: the reason if there was none before.
    func channelEnded(_ fallback: DisconnectReason) {
        guard ending != .over else { return }
        let reason = endReason ?? fallback
        beginEnding(.over, reason)
        finish(reason)
    }

    private func beginEnding(_ ending: Ending, _ reason: DisconnectReason) {
        self.ending = ending
        endReason = reason
        receiver.stop()
    }

    private func stopSending(_ reason: DisconnectReason) {
        watchdog.stop()
        clockTimer?.cancel()
        // Only a connection that was ready gets a replacement.
        let willReconnect = isReady && owner?.sessionIsClosing(self, reason) == true
        device.outbound.withLock { $0.close(reason, willReconnect: willReconnect) }
    }

    private func finish(_ reason: DisconnectReason) {
        endBatch()
        stopSending(reason)
        connection?.end()
        connection = nil
        wakefulness?.stop()
        owner?.historyTurns?.histories.forget(ObjectIdentifier(self))
        let unwritten = sender.stop()
        bytes.detach()
        let waiters = device.outbound.withLock { outbound in
            outbound.discardQueues(unwritten: isReady ? unwritten : nil)
            device.congestion.set(stream: false, pieces: false)
            defer { outbound.waiters.removeAll() }
            return Array(outbound.waiters.values)
        }
        let error = ElementalError(.notConnected, "the connection has ended: \(reason)")
        for waiter in waiters { waiter.outcome.resolve(error) }
        receiver.publishCounts()
        device.failRequests(error)
        let owner = owner
        self.owner = nil
        owner?.sessionEnded(self, reason)
    }
}
