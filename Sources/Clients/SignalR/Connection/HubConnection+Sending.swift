import NIOCore

extension HubConnection {
    /// Returns the session as soon as it accepts another message.
    func writableSession() async throws(SignalRError) -> HubSession {
        while phase == .connected, let session {
            if session.isWritable { return session }
            guard await session.waitUntilWritable() else {
                throw SignalRError(.cancelled, "the sending task was cancelled")
            }
        }
        switch phase {
        case .reconnecting:
            throw SignalRError(
                .reconnecting,
                "the connection was lost and is reconnecting: nothing can be called until it is open again")
        case .connecting:
            throw SignalRError(.notConnected, "the connection is not open yet: wait for start() to return")
        case .connected, .disconnected, .disconnecting:
            throw SignalRError(.notConnected, "the connection is not open: start it first")
        }
    }

    func encoded(_ message: HubMessage) -> ByteBuffer {
        var bytes = ByteBuffer()
        codec.write(message, into: &bytes)
        return bytes
    }

    /// Sends a message, or keeps it until a broken stateful connection is resumed. Returns its size on the wire, in
    /// bytes.
    @discardableResult
    func transmit(_ message: HubMessage, _ session: HubSession) -> Int {
        guard session.isOpen else { return 0 }
        let bytes = encoded(message)
        if message.isCounted { session.log?.keep(bytes) }
        if let transport = session.transport, session.resuming == nil {
            session.lastSent = options.now()
            transport.send(bytes)
        }
        return bytes.readableBytes
    }

    /// Sends the answer to a call of the hub. Senders suspend while the hub reads nothing; answers cannot, so reading
    /// from the hub stops instead.
    func transmitAnswer(_ id: String, _ completion: HubCompletion, _ session: HubSession) {
        session.noteAnswer(transmit(.completion(id: id, completion), session))
        guard session.isLogOverfull else { return }
        let what = "the hub asked for results but does not acknowledge them, and too many are unacknowledged"
        over(session, SignalRError(.bufferOverflow, what), mayReconnect: true)
    }

    // MARK: - Timers

    func startTimers(_ session: HubSession) {
        session.lastSent = options.now()
        session.lastReceived = options.now()
        // With long polling, a server sends only messages and no pings, and a failing poll shows that it is gone.
        guard session.kind != .longPolling else { return }
        armKeepAlive(session)
        armTimeout(session)
    }

    private func armKeepAlive(_ session: HubSession) {
        let interval = TimeAmount(options.keepAliveInterval)
        let wait = session.lastSent + interval - options.now()
        session.keepAlive = eventLoop.assumeIsolated().scheduleTask(in: wait) { [self] in
            guard session.isOpen else { return }
            if options.now() - session.lastSent >= interval {
                transmit(.ping, session)
                session.lastSent = options.now()
            }
            armKeepAlive(session)
        }
    }

    private func armTimeout(_ session: HubSession) {
        let limit = TimeAmount(options.serverTimeout)
        let wait = session.lastReceived + limit - options.now()
        session.timeout = eventLoop.assumeIsolated().scheduleTask(in: wait) { [self] in
            guard session.isOpen else { return }
            // Nothing can arrive while the connection is being resumed.
            if session.resuming != nil { session.lastReceived = options.now() }
            guard options.now() - session.lastReceived >= limit else { return armTimeout(session) }
            session.lastReceived = options.now()
            armTimeout(session)
            let what =
                session.transport?.isReading == false
                ? "the server asked for results but read none of them for \(options.serverTimeout)"
                : "nothing was received from the server for \(options.serverTimeout)"
            lost(session, SignalRError(.serverTimeout, what))
        }
    }
}
