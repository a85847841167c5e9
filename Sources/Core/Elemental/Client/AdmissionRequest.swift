import ElementalSecurity
import NIOCore
import NIOPosix
import Support

/// A one-shot request of a client on a connection without a session: pairing or an admin's command.
struct AdmissionRequest<Answer: Sendable>: Sendable {
    /// What the client does on the connection. It is prepared on a thread that may block.
    struct Work: Sendable {
        let identity: TLSIdentity
        let purpose: ClientAdmission.Purpose
        /// The key that the service had when it was paired before.
        var pinned: Fingerprint?
        let accepts: @Sendable (Fingerprint) -> Bool
        /// Stores a service that pairs, or removes it. Called on a thread that may block, with the service's address.
        var store: @Sendable (PairedService, ClientGateHandler.PairingStep, SocketAddress?) throws -> Void = {
            _, _, _ in
        }
        /// `nil` if the answer is not the one expected.
        let answer: @Sendable (ClientGateHandler.Outcome, SocketAddress?) -> Answer?
        let explain: @Sendable (ClientGateHandler.Failure) -> ElementalError
    }

    let connector: Connector
    let prepare: @Sendable (ClientSecurity.Keys) throws -> Work

    /// Connects, asks, and closes the connection. Cancelling the task stops it, unless the service is already being
    /// stored.
    func run() async throws(ElementalError) -> Answer {
        try connector.checkPort()
        guard let keys = connector.options.security.keys else {
            throw ElementalError(
                .invalidState, "a client needs an identity for that: set ConnectOptions.security to one that has it")
        }
        let eventLoop = connector.options.eventLoopGroup.next()
        do {
            let work = try await NIOThreadPool.singleton.runIfActive { [prepare] in
                try keys.identity.checkIsCurrent()
                return try prepare(keys)
            }
            let promise = eventLoop.makePromise(of: Answer.self)
            let attempt = NIOLoopBoundBox.makeBoxSendingValue(
                Attempt(connector, work, eventLoop, promise), eventLoop: eventLoop)
            return try await withTaskCancellationHandler {
                eventLoop.execute { attempt.value.dial() }
                return try await promise.futureResult.get()
            } onCancel: {
                eventLoop.execute { attempt.value.cancel() }
            }
        } catch let error as ElementalError {
            throw error
        } catch is CancellationError {
            throw .connectingCancelled
        } catch {
            throw connector.explain(error, connector.place.endpoint)
        }
    }
}

extension AdmissionRequest {
    /// A request in progress, on its event loop.
    private final class Attempt {
        private let connector: Connector
        private let work: Work
        private let eventLoop: any EventLoop
        /// `nil` once it is over.
        private var promise: EventLoopPromise<Answer>?
        private var channel: (any Channel)?
        private var hasRetried = false
        private var isStoring = false

        init(
            _ connector: Connector, _ work: Work, _ eventLoop: any EventLoop, _ promise: EventLoopPromise<Answer>
        ) {
            self.connector = connector
            self.work = work
            self.eventLoop = eventLoop
            self.promise = promise
        }

        func cancel() {
            guard !isStoring else { return }
            finish(.failure(ElementalError.connectingCancelled))
            channel?.close(promise: nil)
        }

        private func finish(_ result: Result<Answer, any Error>) { promise.take()?.completeWith(result) }

        func dial() {
            guard promise != nil else { return }
            connector.options.network
                .connect(to: connector.place.endpoint, named: connector.peerName, connector.options, on: eventLoop)
                .assumeIsolated()
                .whenComplete { [self] result in
                    do { try ask(on: result.get()) } catch { finish(.failure(error)) }
                }
        }

        private func ask(on channel: any Channel) throws {
            guard promise != nil else { return channel.close(promise: nil) }
            self.channel = channel
            let address = channel.remoteAddress
            let plan = ClientGateHandler.Plan(
                accepts: work.accepts,
                makeAdmission: { [connector, work] key in
                    ClientAdmission(
                        work.purpose, service: connector.service, name: connector.ownName,
                        own: work.identity.fingerprint, peer: key, pinned: work.pinned)
                },
                store: { [self] service, step in
                    if step == .pending {
                        guard promise != nil else {
                            return eventLoop.makeFailedFuture(ElementalError.connectingCancelled)
                        }
                        isStoring = true
                    }
                    return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [work] in
                        try work.store(service, step, address)
                    }
                },
                timeout: TimeAmount(connector.options.timeout))
            try ClientGateHandler.begin(on: channel, as: work.identity, plan) { [self] result in
                switch result {
                case .success(let outcome):
                    let unexpected = ElementalError(
                        .connectionFailed, "'\(connector.peerName)' does not answer as expected")
                    finish(work.answer(outcome, address).map { .success($0) } ?? .failure(unexpected))
                    // No session follows on this connection.
                    if case .authorised = outcome { channel.close(promise: nil) }
                case .failure(.unanswered) where promise != nil && !hasRetried:
                    hasRetried = true
                    eventLoop.assumeIsolated().scheduleTask(in: ClientGateHandler.pause) { [self] in dial() }
                case .failure(let failure):
                    finish(.failure(work.explain(failure)))
                }
            }
        }
    }
}
