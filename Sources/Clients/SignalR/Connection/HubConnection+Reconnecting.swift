import NIOCore
import Support

extension HubConnection {
    func reconnect(_ error: SignalRError?) {
        shortLived.lost(after: .nanoseconds((options.now() - openedAt).nanoseconds))
        run += 1
        phase = .reconnecting
        logger.debug("lost", metadata: ["url": "\(url)", "error": "\(error.map { "\($0)" } ?? "none")"])
        lifecycle.emit(.willReconnect(error))
        opening = Task { [run] in await self.reconnect(run, error) }
    }

    private func reconnect(_ run: UInt64, _ original: SignalRError?) async {
        let start = ContinuousClock.now
        var number = 1
        var last: SignalRError?
        while run == self.run {
            let attempt = ReconnectionAttempt(
                number: number, elapsed: start.duration(to: .now), reason: original, lastError: last)
            guard let delay = policy?.delay(before: attempt) else {
                opening = nil
                session = nil
                return finish(original ?? last)
            }
            await pause(number == 1 ? max(delay, shortLived.minimumDelay) : delay)
            guard run == self.run else { return }
            do throws(SignalRError) {
                let session = try await connect()
                guard run == self.run else { return session.end() }
                return begin(session, .didReconnect)
            } catch {
                logger.debug("cannot reconnect", metadata: ["attempt": "\(number)", "error": "\(error)"])
                number += 1
                last = error
            }
        }
    }

    private func pause(_ duration: Duration) async {
        if duration > .zero { await options.pause(duration, eventLoop) }
    }

    // MARK: - Stateful

    /// The delays before attempts to resume a broken connection. They are short, so that the break goes unnoticed;
    /// after the last one the connection counts as lost.
    private static var resumeIntervals: [Duration] { [.zero, .seconds(1), .seconds(2), .seconds(4)] }

    /// Opens a new WebSocket to resume a broken connection, which the server identifies by its token.
    func beginResuming(_ session: HubSession, _ error: SignalRError?) {
        guard session.resuming == nil else {
            session.transport = nil
            return
        }
        logger.debug("broken, resuming", metadata: ["error": "\(error.map { "\($0)" } ?? "none")"])
        session.transports += 1
        session.transport?.abort()
        session.transport = nil
        session.resuming = Task { await self.resume(session, error) }
    }

    private func resume(_ session: HubSession, _ error: SignalRError?) async {
        // A server that resumes the connection and breaks it again without sending anything does not get more attempts.
        for interval in Self.resumeIntervals.dropFirst(session.unconfirmedResumes) {
            await pause(interval)
            guard session.isOpen, !session.isEnded else { return }
            session.frames = FrameReader(isBinary: codec.isBinary, maximum: options.maximumMessageSize)
            session.log?.breakOff()
            do throws(SignalRError) {
                try await openTransport(session)
                guard session.isOpen, !session.isEnded, let log = session.log else { return }
                session.unconfirmedResumes += 1
                // The new transport may have ended at once.
                guard let transport = session.transport else { continue }
                session.resuming = nil
                session.lastReceived = options.now()
                session.lastSent = options.now()
                // There is no handshake: the hub answers with its `Sequence`.
                transport.send(encoded(.sequence(log.firstKept)))
                for bytes in log.kept { transport.send(bytes) }
                session.releaseSenders()
                logger.debug("resumed")
                return
            } catch {
                session.transport = nil
                logger.debug("cannot resume", metadata: ["error": "\(error)"])
                // The server does not know the connection any more, or refuses it. (409: it has not noticed the break
                // yet.)
                guard error.httpStatus == nil || error.httpStatus == 409 else { break }
            }
        }
        guard !session.isEnded else { return }
        over(
            session, error ?? SignalRError(.connectionLost, "the connection broke and could not be resumed"),
            mayReconnect: true)
    }

    /// Acknowledges received messages one second later, so that many share one acknowledgement.
    func scheduleAcknowledgement(_ session: HubSession) {
        guard session.acknowledging == nil else { return }
        session.acknowledging = eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [self] in
            session.acknowledging = nil
            guard session.resuming == nil, let log = session.log else { return }
            transmit(.ack(log.received), session)
        }
    }
}
