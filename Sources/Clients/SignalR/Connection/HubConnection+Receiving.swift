import NIOCore

extension HubConnection {
    func received(_ bytes: ByteBuffer, _ session: HubSession) {
        guard !session.isEnded else { return }
        session.lastReceived = options.now()
        receivedPieces += 1
        session.frames.append(bytes)
        guard session.isHandshakeDone else {
            do throws(SignalRError) {
                guard try HubHandshake.readResponse(&session.frames) else { return }
                session.isHandshakeDone = true
                session.handshake.resolve(.success(()))
            } catch {
                session.handshake.resolve(.failure(error))
            }
            return
        }
        process(session)
    }

    func process(_ session: HubSession) {
        do throws(SignalRError) {
            while session.isOpen, let frame = try session.frames.next() {
                guard let message = try codec.read(frame) else { continue }
                if session.log?.admit(message) == false {
                    // The server sends it again because an acknowledgement was lost.
                    scheduleAcknowledgement(session)
                    continue
                }
                try handle(message, session)
                if message.isCounted, session.log != nil { scheduleAcknowledgement(session) }
            }
        } catch {
            lost(session, error)
        }
    }

    private func handle(_ message: HubMessage, _ session: HubSession) throws(SignalRError) {
        switch message {
        case .invocation(let id, let target, _, _, _, true):
            let text = "this client has no method '\(target)' that returns a stream"
            if let id { transmitAnswer(id, .error(text), session) }
        case .invocation(let id, let target, let arguments, _, let headers, false):
            handleInvocation(
                id, HubArguments(method: target, headers: headers, codec: codec, array: arguments), session)
        case .streamItem(let id, let item):
            guard case .stream(let items) = session.pending[id] else { return }
            if !items.add(item, piece: receivedPieces) {
                session.pending[id] = nil
                items.finish(
                    SignalRError(
                        .bufferOverflow,
                        "the stream's items arrived faster than they were consumed: \(items.limit) bytes are buffered"))
                transmit(.cancelInvocation(id: id), session)
            }
        case .completion(let id, let completion): complete(id, completion, session)
        case .cancelInvocation(let id): session.answers.cancel(id)
        case .ping: break
        case .close(let error, let allowReconnect):
            let error = error.map { SignalRError(.closedByServer, "the hub closed the connection: \($0)") }
            over(session, error, mayReconnect: allowReconnect)
        case .ack(let number):
            session.log?.acknowledge(number)
            session.releaseSenders()
        case .sequence(let number):
            try session.log?.goOn(at: number)
            session.unconfirmedResumes = 0
        }
    }

    private func complete(_ id: String, _ completion: HubCompletion, _ session: HubSession) {
        guard let pending = session.pending.removeValue(forKey: id) else { return }
        endUploads(of: id, session)
        switch (pending, completion) {
        case (.result(let outcome), .void): outcome.resolve(.success(nil))
        case (.result(let outcome), .value(let bytes)): outcome.resolve(.success(bytes))
        case (.result(let outcome), .error(let text)):
            outcome.resolve(.failure(SignalRError(.invocationFailed, text)))
        case (.stream(let items), .error(let text)): items.finish(SignalRError(.invocationFailed, text))
        case (.stream(let items), .void), (.stream(let items), .value): items.finish(nil)
        }
    }

    // MARK: - Ending

    func transportClosed(_ session: HubSession, _ error: SignalRError?) {
        guard !session.isEnded else { return }
        guard session.isHandshakeDone else {
            let lost = SignalRError(
                .connectionLost, "the server closed the connection before the hub had answered the handshake")
            session.handshake.resolve(.failure(error ?? lost))
            return
        }
        lost(session, error)
    }

    /// Handles a broken connection: a stateful one is resumed, any other ends.
    func lost(_ session: HubSession, _ error: SignalRError?) {
        guard !session.isEnded, session === self.session else { return }
        if phase == .connecting || phase == .reconnecting {
            session.earlyLoss = .some(error)
            return
        }
        let isBroken = error.map { [.connectionLost, .serverTimeout, .connectionFailed].contains($0.code) } ?? true
        if session.isOpen, session.log != nil, isBroken {
            beginResuming(session, error)
        } else {
            over(session, error, mayReconnect: true)
        }
    }

    /// Ends the session, then reconnects or closes the connection.
    func over(_ session: HubSession, _ error: SignalRError?, mayReconnect: Bool) {
        guard !session.isEnded, session === self.session else { return }
        let wasOpen = session.isOpen
        session.isOpen = false
        session.fail(error ?? SignalRError(.connectionLost, "the server closed the connection"))
        session.end()
        // If the connection is being stopped, the stopping task does the rest.
        guard wasOpen, phase == .connected else { return }
        self.session = nil
        if mayReconnect, policy != nil {
            reconnect(error)
        } else {
            finish(error)
        }
    }
}
