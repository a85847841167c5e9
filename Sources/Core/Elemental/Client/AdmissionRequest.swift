import ElementalSecurity
import NIOCore
import NIOPosix
import Support

/// A one-shot request of a client on a connection without a session: pairing or an admin's command.
struct AdmissionRequest<Answer: Sendable>: Sendable {
    /// What the client does on the connection. It is prepared on a thread that may block.
    struct Work: Sendable {
        let identity: TLSIdentity
        /// Whether the service may have that key.
        let accepts: @Sendable (Fingerprint) -> Bool
        /// Begins the admission with a service that has proven that key.
        let makeAdmission: @Sendable (Fingerprint) -> ClientAdmission
        /// Stores a service that pairs, or removes it. Called on a thread that may block, with the service's address.
        var store: @Sendable (PairedService, ClientGateHandler.PairingStep, SocketAddress?) throws -> Void = {
            _, _, _ in
        }
        /// The answer, from a service at that address; `nil` if it is not the one expected.
        let answer: @Sendable (ClientGateHandler.Outcome, SocketAddress?) -> Answer?
        let explain: @Sendable (ClientGateHandler.Failure) -> ElementalError
    }

    let connector: Connector
    /// Reads identity and trusted services.
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
            let attempt = Attempt(eventLoop.makePromise(of: Answer.self))
            return try await withTaskCancellationHandler {
                eventLoop.execute { dial(work, attempt, on: eventLoop) }
                return try await attempt.promise.futureResult.get()
            } onCancel: {
                attempt.cancel()
            }
        } catch let error as ElementalError {
            throw error
        } catch is CancellationError {
            throw .connectingCancelled
        } catch {
            throw connector.explain(error, connector.endpoint)
        }
    }

    /// - Parameter isLast: whether a connection was tried before.
    private func dial(_ work: Work, _ attempt: Attempt, on eventLoop: any EventLoop, isLast: Bool = false) {
        connector.options.network
            .connect(to: connector.endpoint, named: connector.peerName, connector.options, on: eventLoop)
            .assumeIsolated()
            .whenComplete { result in
                do {
                    try begin(on: result.get(), work, attempt) {
                        guard !isLast, attempt.mayDialAgain() else { return false }
                        eventLoop.assumeIsolated().scheduleTask(in: ClientGateHandler.pause) {
                            dial(work, attempt, on: eventLoop, isLast: true)
                        }
                        return true
                    }
                } catch {
                    attempt.finish(.failure(error))
                }
            }
    }

    /// - Parameter tryAgain: connects once more after a pause.
    private func begin(
        on channel: any Channel, _ work: Work, _ attempt: Attempt, tryAgain: @escaping () -> Bool
    ) throws {
        guard attempt.opened(channel) else { return channel.close(promise: nil) }
        let eventLoop = channel.eventLoop
        let address = channel.remoteAddress
        let plan = ClientGateHandler.Plan(
            accepts: work.accepts, makeAdmission: work.makeAdmission,
            store: { service, step in
                // Once storing has begun, cancellation does not stop it.
                guard step != .pending || attempt.beginStoring() else {
                    return eventLoop.makeFailedFuture(ElementalError.connectingCancelled)
                }
                return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
                    try work.store(service, step, address)
                }
            },
            timeout: TimeAmount(connector.options.timeout))
        try ClientGateHandler.begin(on: channel, as: work.identity, plan) { result in
            switch result {
            case .success(let outcome):
                if let answer = work.answer(outcome, address) {
                    attempt.finish(.success(answer))
                } else {
                    attempt.finish(
                        .failure(
                            ElementalError(.connectionFailed, "'\(connector.peerName)' does not answer as expected")))
                }
                // No session follows on this connection.
                if case .authorised = outcome { channel.close(promise: nil) }
            case .failure(.unanswered) where tryAgain(): break
            case .failure(let failure):
                attempt.finish(.failure(work.explain(failure)))
            }
        }
    }
}

extension AdmissionRequest {
    /// A request in progress, which another thread may cancel.
    private final class Attempt: Sendable {
        private enum State {
            case connecting
            case open(any Channel)
            /// It can no longer be cancelled.
            case storing
            case over

            var isOpen: Bool { if case .open = self { true } else { false } }
        }

        let promise: EventLoopPromise<Answer>
        private let state = Locked(State.connecting)

        init(_ promise: EventLoopPromise<Answer>) { self.promise = promise }

        /// - Returns: `false` if the request was cancelled.
        func opened(_ channel: any Channel) -> Bool {
            move(to: .open(channel)) { if case .connecting = $0 { true } else { false } }
        }

        /// The connection ended unanswered.
        ///
        /// - Returns: `false` if the request was cancelled.
        func mayDialAgain() -> Bool { move(to: .connecting, if: \.isOpen) }

        /// - Returns: `false` if the request was cancelled.
        func beginStoring() -> Bool { move(to: .storing, if: \.isOpen) }

        private func move(to next: State, if isExpected: (State) -> Bool) -> Bool {
            state.withLock { state in
                guard isExpected(state) else { return false }
                state = next
                return true
            }
        }

        func cancel() {
            let last: State? = state.withLock { state in
                if case .storing = state { return nil }
                defer { state = .over }
                return state
            }
            switch last {
            case .connecting: promise.fail(ElementalError.connectingCancelled)
            case .open(let channel):
                promise.fail(ElementalError.connectingCancelled)
                channel.close(promise: nil)
            case .storing, .over, nil: break
            }
        }

        func finish(_ result: Result<Answer, any Error>) {
            let isFirst = state.withLock { state in
                if case .over = state { return false }
                state = .over
                return true
            }
            if isFirst { promise.completeWith(result) }
        }
    }
}
