import NIOCore

extension HubConnection {
    /// The session that calls go through.
    func openSession() throws(SignalRError) -> HubSession {
        switch phase {
        case .connected:
            if let session { return session }
            throw SignalRError(.notConnected, "the connection is not open")
        case .reconnecting:
            throw SignalRError(
                .reconnecting, "the connection was lost and is being made again: nothing can be called meanwhile")
        case .connecting:
            throw SignalRError(.notConnected, "the connection is not open yet: wait for start() to return")
        case .disconnected, .disconnecting:
            throw SignalRError(.notConnected, "the connection is not open: start it first")
        }
    }

    /// Waits until the session can take another message.
    func writableSession() async throws(SignalRError) -> HubSession {
        while true {
            let session = try openSession()
            if session.isWritable { return session }
            guard await session.waitUntilWritable() else {
                throw SignalRError(.cancelled, "the task that was to send was cancelled")
            }
        }
    }

    func encoded(_ message: HubMessage) -> ByteBuffer {
        var bytes = ByteBuffer()
        codec.write(message, into: &bytes)
        return bytes
    }

    /// Sends a message, or keeps it until the connection is taken up again.
    ///
    /// - Returns: its bytes on the wire.
    @discardableResult
    func transmit(_ message: HubMessage, _ session: HubSession) -> Int {
        guard session.isOpen else { return 0 }
        let bytes = encoded(message)
        if message.isCounted { session.log?.keep(bytes) }
        if let transport = session.transport, session.resuming == nil {
            session.lastSent = .now()
            transport.send(bytes)
        }
        return bytes.readableBytes
    }

    /// Sends the answer to a call of the hub. Senders wait for a hub that takes nothing; answers cannot, so the hub does.
    func transmitAnswer(_ id: String, _ completion: HubCompletion, _ session: HubSession) {
        session.noteAnswer(transmit(.completion(id: id, completion, headers: [:]), session))
        guard session.isLogOverfull else { return }
        let what = "the hub does not acknowledge the results that it asked for, and too many wait for it"
        over(session, SignalRError(.bufferOverflow, what), mayReconnect: true)
    }

    // MARK: - Timers

    func startTimers(_ session: HubSession) {
        session.lastSent = .now()
        session.lastReceived = .now()
        // A server sends nothing into a poll but messages, and a poll that fails tells that it is gone.
        guard session.kind != .longPolling else { return }
        armKeepAlive(session)
        armTimeout(session)
    }

    private func armKeepAlive(_ session: HubSession) {
        let interval = TimeAmount(options.keepAliveInterval)
        session.keepAlive = eventLoop.assumeIsolated().scheduleTask(deadline: session.lastSent + interval) { [self] in
            guard session.isOpen else { return }
            if .now() - session.lastSent >= interval {
                transmit(.ping, session)
                session.lastSent = .now()
            }
            armKeepAlive(session)
        }
    }

    private func armTimeout(_ session: HubSession) {
        let limit = TimeAmount(options.serverTimeout)
        session.timeout = eventLoop.assumeIsolated().scheduleTask(deadline: session.lastReceived + limit) { [self] in
            guard session.isOpen else { return }
            // While it is taken up again, nothing can come.
            if session.resuming != nil { session.lastReceived = .now() }
            guard .now() - session.lastReceived >= limit else { return armTimeout(session) }
            session.lastReceived = .now()
            armTimeout(session)
            let what =
                session.transport?.isReading == false
                ? "the server asked for results and took none of them for \(options.serverTimeout)"
                : "nothing came from the server for \(options.serverTimeout)"
            lost(session, SignalRError(.serverTimeout, what))
        }
    }
}
