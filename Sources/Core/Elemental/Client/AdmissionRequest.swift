import ElementalSecurity
import NIOCore
import NIOPosix
import Support

/// A client's request on an encrypted connection: admission, pairing or an admin's command.
struct AdmissionRequest: Sendable {
    typealias Answer = (outcome: ClientGateHandler.Outcome, address: SocketAddress?)

    let identity: TLSIdentity
    let purpose: ClientAdmission.Purpose
    /// The key that the service had when it was paired before.
    var pinned: Fingerprint?
    let accepts: @Sendable (Fingerprint) -> Bool
    /// Stores a service that pairs, or removes it. Called on a thread that may block.
    var store: @Sendable (PairedService, ClientGateHandler.PairingStep, SocketAddress?) throws -> Void = { _, _, _ in }
    let explain: @Sendable (ClientGateHandler.Failure) -> ElementalError
}

extension Connector {
    func request(
        _ purpose: ClientAdmission.Purpose, to expected: ExpectedService, at endpoint: ServiceEndpoint
    ) -> AdmissionRequest {
        AdmissionRequest(
            identity: expected.identity, purpose: purpose, accepts: { expected.accepts($0) },
            explain: { explain($0, endpoint, expected) })
    }

    /// Connects, sends the request, waits for the answer, and closes the connection. Cancelling the task stops this,
    /// unless the service is already being stored.
    ///
    /// - Parameter prepare: called on a thread that may block.
    func ask(
        _ prepare: @escaping @Sendable (ClientSecurity.Keys) throws -> AdmissionRequest
    ) async throws(ElementalError) -> AdmissionRequest.Answer {
        try checkPort()
        guard let keys = options.security.keys else {
            throw ElementalError(
                .invalidState, "a client needs an identity for that: set ConnectOptions.security to one that has it")
        }
        let eventLoop = options.eventLoopGroup.next()
        do {
            let request = try await NIOThreadPool.singleton.runIfActive {
                try keys.identity.checkIsCurrent()
                return try prepare(keys)
            }
            let promise = eventLoop.makePromise(of: AdmissionRequest.Answer.self)
            let attempt = NIOLoopBoundBox.makeBoxSendingValue(
                AdmissionAttempt(self, request, eventLoop, promise), eventLoop: eventLoop)
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
            throw explain(error, place.endpoint)
        }
    }
}

/// A request in progress, on its event loop.
private final class AdmissionAttempt {
    private let connector: Connector
    private let request: AdmissionRequest
    private let eventLoop: any EventLoop
    /// `nil` once it is over.
    private var promise: EventLoopPromise<AdmissionRequest.Answer>?
    private var channel: (any Channel)?
    private var hasRetried = false
    private var isStoring = false

    init(
        _ connector: Connector, _ request: AdmissionRequest, _ eventLoop: any EventLoop,
        _ promise: EventLoopPromise<AdmissionRequest.Answer>
    ) {
        self.connector = connector
        self.request = request
        self.eventLoop = eventLoop
        self.promise = promise
    }

    func cancel() {
        guard !isStoring else { return }
        finish(.failure(ElementalError.connectingCancelled))
        channel?.close(promise: nil)
    }

    private func finish(_ result: Result<AdmissionRequest.Answer, any Error>) { promise.take()?.completeWith(result) }

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
        let store: ClientGateHandler.Store = { [self] service, step in
            if step == .pending {
                guard promise != nil else {
                    return eventLoop.makeFailedFuture(ElementalError.connectingCancelled)
                }
                isStoring = true
            }
            return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { [request] in
                try request.store(service, step, address)
            }
        }
        try ClientGateHandler.begin(on: channel, connector, request, store: store) { [self] result in
            switch result {
            case .success(let outcome):
                finish(.success((outcome, address)))
                // No session follows on this connection.
                if case .authorised = outcome { channel.close(promise: nil) }
            case .failure(let failure):
                guard promise != nil, !hasRetried, let pause = failure.pauseBeforeRetry else {
                    return finish(.failure(request.explain(failure)))
                }
                hasRetried = true
                eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in dial() }
            }
        }
    }
}
