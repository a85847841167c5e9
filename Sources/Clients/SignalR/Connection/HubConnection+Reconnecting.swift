import NIOCore
import Support

extension HubConnection {
    /// A connection that is lost sooner did not last.
    private static var shortLife: TimeAmount { .seconds(10) }
    /// So many connections in a row that did not last are made anew as the policy says, which does not know of them.
    private static var forgivenLosses: Int { 3 }

    /// The shortest wait before the first attempt: a server that ends each connection as soon as it is there is asked for
    /// the next after ever longer times.
    private var minimumWait: Duration {
        let losses = shortLivedCount - Self.forgivenLosses
        return losses > 0 ? BackOff(first: .seconds(1)).delay(before: losses) : .zero
    }

    /// Makes the connection anew, as the policy says.
    func reconnect(_ error: SignalRError?) {
        shortLivedCount = .now() - openedAt < Self.shortLife ? shortLivedCount + 1 : 0
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
            await pause(number == 1 ? max(delay, minimumWait) : delay)
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

    /// Waits for the duration, or until the task is cancelled.
    private func pause(_ duration: Duration) async {
        if duration > .zero { await Delay.wait(duration, on: eventLoop) }
    }

    // MARK: - Stateful

    /// When to try to take a broken connection up again. It is to pass unnoticed, so it does not take long; then the
    /// connection counts as lost.
    private static var resumeIntervals: [Duration] { [.zero, .seconds(1), .seconds(2), .seconds(4)] }

    /// Opens a new WebSocket for a connection that broke: the server knows it by its token.
    func takeUpAgain(_ session: HubSession, _ error: SignalRError?) {
        guard session.resuming == nil else {
            session.transport = nil
            return
        }
        logger.debug("broken, to be taken up again", metadata: ["error": "\(error.map { "\($0)" } ?? "none")"])
        session.transports += 1
        session.transport?.abort()
        session.transport = nil
        session.resuming = Task { await self.resume(session, error) }
    }

    private func resume(_ session: HubSession, _ error: SignalRError?) async {
        // A server that takes it up and breaks it again, without a word, does not get more attempts than another.
        for interval in Self.resumeIntervals.dropFirst(session.fruitlessResumes) {
            await pause(interval)
            guard session.isOpen, !session.isEnded else { return }
            session.frames = FrameReader(isBinary: codec.isBinary, maximum: options.maximumMessageSize)
            session.log?.breakOff()
            do throws(SignalRError) {
                try await openTransport(session)
                guard session.isOpen, !session.isEnded, let log = session.log else { return }
                session.fruitlessResumes += 1
                // It may have ended at once.
                guard let transport = session.transport else { continue }
                session.resuming = nil
                session.lastReceived = .now()
                session.lastSent = .now()
                // No handshake: the hub's answer is its Sequence.
                transport.send(encoded(.sequence(log.firstKept)))
                for bytes in log.messages { transport.send(bytes) }
                session.releaseSenders()
                logger.debug("taken up again")
                return
            } catch {
                session.transport = nil
                logger.debug("cannot take up again", metadata: ["error": "\(error)"])
                // The server does not know it any more, or does not want it. (409: it has not seen the break yet.)
                guard error.httpStatus == nil || error.httpStatus == 409 else { break }
            }
        }
        guard !session.isEnded else { return }
        over(
            session, error ?? SignalRError(.connectionLost, "the connection broke and could not be taken up again"),
            mayReconnect: true)
    }

    /// Tells the server, a little later and so for many messages at once, what has come.
    func scheduleAcknowledgement(_ session: HubSession) {
        guard session.acknowledging == nil else { return }
        session.acknowledging = eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { [self] in
            session.acknowledging = nil
            guard session.resuming == nil, let log = session.log else { return }
            transmit(.ack(log.received), session)
        }
    }
}
