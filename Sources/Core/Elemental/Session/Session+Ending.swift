import ElementalWire
import NIOCore
import Support

extension Session {
    func close(_ reason: DisconnectReason, shutdownText: String?) {
        handle(.close(reason, shutdownText: shutdownText, waits: true))
    }

    /// Ends the connection because of a frame, an error or a timeout.
    ///
    /// - Parameter shutdownText: the text that a service sends its client before it closes.
    func fail(_ reason: DisconnectReason, shutdownText: String? = nil) {
        logger.debug("ending connection", metadata: ["device": "\(device.name)", "reason": "\(reason)"])
        handle(.fail(reason, shutdownText: device.role == .client ? shutdownText : nil))
    }

    /// - Parameter waits: whether the connection stays open until the client has closed it. If not, the reason is lost
    ///   if
    ///   data of the client has arrived that was not read.
    func refuse(_ text: String, waits: Bool = true) {
        logger.info("connection refused", metadata: ["device": "\(device)", "reason": "\(text)"])
        handle(
            .close(DisconnectReason(.closedHere, isExpected: true), shutdownText: "refused: \(text)", waits: waits))
    }

    func abandon() {
        let channel = bytes.channel
        handle(.gone(DisconnectReason(.cancelled, isExpected: true)))
        channel?.close(promise: nil)
    }

    func react(to finding: Watchdog.Finding) {
        switch finding {
        case .handshakeTimedOut:
            guard !isReady else { return }
            let text = "\(handshake.awaited) did not come within \(device.limits.handshakeTimeout)"
            fail(
                DisconnectReason(.timedOut(text), isExpected: false),
                shutdownText: awaitsName ? "refused: \(text)" : nil)
        case .needsPing:
            sender.queue(.ping, repeatElement(0, count: MemoryLayout<UInt64>.size))
            flush()
        case .silent:
            let silence = device.limits.maximumSilence.map { "\($0)" } ?? ""
            logger.debug("the other end is dead", metadata: ["device": "\(device.name)", "silence": "\(silence)"])
            handle(
                .breakOff(
                    DisconnectReason(
                        .timedOut("nothing came from the other end for \(silence), not even an answer to a ping"),
                        isExpected: false)))
        case .stuck:
            let limit = device.limits.stuckTimeout.map { "\($0)" } ?? ""
            fail(
                DisconnectReason(
                    .timedOut("the other end took nothing for \(limit) of what was sent"), isExpected: false))
        }
    }

    func handle(_ event: SessionEnding.Event) {
        var ending = self.ending ?? SessionEnding()
        let actions = ending.handle(event)
        if !ending.isOpen {
            self.ending = ending
            receiver.stop()
        }
        for action in actions { perform(action) }
    }

    private func perform(_ action: SessionEnding.Action) {
        switch action {
        case .stopSending(let reason): stopSending(reason)
        case .sendShutdown(let text):
            sender.queue(.shutdown, text.utf8.prefix(SystemElement.maximumNameByteCount))
        case .startTimer:
            // Its channel keeps it alive for as long as there is something to close.
            device.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(device.limits.closeTimeout)) { [weak self] in
                self?.handle(.timeUp)
            }
        case .read: bytes.read()
        case .flush: flush()
        case .closeOutput: bytes.closeOutput()
        case .closeChannel: bytes.close()
        case .finish(let reason): finish(reason)
        }
    }

    private func stopSending(_ reason: DisconnectReason) {
        watchdog.stop()
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
        device.failPings(error)
        let owner = owner
        self.owner = nil
        owner?.sessionEnded(self, reason)
    }

    /// An error in words for people.
    static func describe(_ error: any Error) -> String { ByteChannel.reason(error) }
}
