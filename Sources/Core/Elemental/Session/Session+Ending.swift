import ElementalWire
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Session {
    /// Ends the connection in order: what is queued is sent, then our side is closed, then the other end's close is
    /// awaited, all within the limit for closing.
    ///
    /// Closing both sides at once would lose what is on its way: a system that closes a socket with unread input resets
    /// the connection, and the reset overtakes the last frames.
    /// - Parameter shutdownText: what a service tells its client before it closes.
    func close(_ reason: DisconnectReason, shutdownText: String?) {
        guard case .none = ending, let context else { return }
        ending = .draining(reason)
        handshakeDeadline?.cancel()
        let willReconnect = willReconnect(reason)
        device.outbound.withLock { outbound in
            outbound.close(reason, willReconnect: willReconnect)
            if let shutdownText, !shutdownText.isEmpty {
                // The other end takes no more.
                let text = Array(shutdownText.utf8.prefix(SystemElement.maximumNameByteCount))
                text.withUnsafeBytes { outbound.appendSystem(.shutdown, $0) }
            }
        }
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(device.limits.closeTimeout)) { [self] in
            self.context?.close(promise: nil)
        }
        // A paused connection would not notice that the other end has closed.
        context.read()
        flush()
    }

    /// Ends the connection because of what came or failed to come; as ``close(_:shutdownText:)`` otherwise.
    func end(_ reason: DisconnectReason, shutdownText: String? = nil) {
        logger.debug("ending connection", metadata: ["device": "\(device.name)", "reason": "\(reason)"])
        if case .networkError = reason.kind { return breakOff(reason) }
        close(reason, shutdownText: device.role == .client ? shutdownText : nil)
    }

    /// Ends a connection over which nothing can be sent any more.
    func breakOff(_ reason: DisconnectReason) {
        if case .none = ending { ending = .closed(reason) }
        context?.close(promise: nil)
    }

    /// Turns a client away, with the reason.
    ///
    /// - Parameter waits: whether the connection stays until the client has closed it. If not, the reason is lost where
    ///   something of the client's has come that was not read.
    func refuse(_ text: String, waits: Bool = true) {
        logger.info("connection refused", metadata: ["device": "\(device)", "reason": "\(text)"])
        close(DisconnectReason(.closedHere, isExpected: true), shutdownText: "refused: \(text)")
        if !waits { context?.close(promise: nil) }
    }

    /// The queue is empty: closes our side behind the last write.
    func finishDraining(_ context: ChannelHandlerContext) {
        guard case .draining(let reason) = ending else { return }
        ending = .closed(reason)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { [self] _ in
            self.context?.close(mode: .output, promise: nil)
        }
    }

    /// The connection is gone.
    func finish(_ fallback: DisconnectReason) {
        let reason: DisconnectReason
        switch ending {
        case .none: reason = fallback
        case .draining(let chosen), .closed(let chosen): reason = chosen
        case .over: return
        }
        ending = .over
        endBatch()
        handshakeDeadline?.cancel()
        heartbeatTimer?.cancel()
        stuckTimer?.cancel()
        let unwritten = outgoing?.messageCount ?? 0
        outgoing = nil
        context = nil
        let willReconnect = willReconnect(reason)
        let waiters = device.outbound.withLock { outbound in
            outbound.close(reason, willReconnect: willReconnect)
            outbound.discardQueues(unwritten: isReady ? unwritten : nil)
            device.congestion.set(stream: false, pieces: false)
            defer { outbound.waiters.removeAll() }
            return Array(outbound.waiters.values)
        }
        let error = ElementalError(.notConnected, "the connection has ended: \(reason)")
        for waiter in waiters { waiter.continuation.resume(throwing: error) }
        let batch = received
        received = DeviceStatistics()
        device.inbound.withLock { $0.statistics.addReceived(batch) }
        device.pings.failAll(error)
        let owner = owner
        self.owner = nil
        owner?.sessionEnded(self, reason)
    }

    /// Lets go of a connection that nobody wants any more, at once.
    func abandon() {
        let channel = context?.channel
        finish(DisconnectReason(.cancelled, isExpected: true))
        channel?.close(promise: nil)
    }

    /// Whether the device goes on after a connection that was ready.
    private func willReconnect(_ reason: DisconnectReason) -> Bool {
        isReady && owner?.sessionIsClosing(self, reason) == true
    }

    /// What the system said, in words for a person.
    static func describe(_ error: any Error) -> String {
        if let error = error as? SocketAddressError.UnknownHost { return error.errorDescription }
        guard let error = error as? IOError else { return String(describing: error) }
        switch error.errnoCode {
        case ECONNRESET, EPIPE: return "the other end reset the connection (its program was killed or refused the data)"
        case ETIMEDOUT: return "the other end does not answer any more"
        case EHOSTUNREACH, ENETUNREACH, ENETDOWN: return "the network to the other end is gone"
        case EMFILE, ENFILE: return "this process may not open more files and sockets; raise the limit (ulimit -n)"
        case ECONNREFUSED: return "nothing listens there"
        default: return String(cString: strerror(error.errnoCode))
        }
    }
}
