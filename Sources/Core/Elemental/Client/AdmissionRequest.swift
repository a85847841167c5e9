import ElementalSecurity
import NIOCore
import NIOPosix
import Support

/// What a client says to a service on a connection that needs no session: it pairs, or gives an admin's command.
struct AdmissionRequest<Answer: Sendable>: Sendable {
    /// What the client does on the connection. Made on a thread that may block.
    struct Work: Sendable {
        let identity: TLSIdentity
        /// Whether the service may have that key.
        let accepts: @Sendable (Fingerprint) -> Bool
        /// Begins with a service that has proven that key.
        let makeAdmission: @Sendable (Fingerprint) -> ClientAdmission
        /// Stores a service that pairs, reached at that address, or removes it. On a thread that may block.
        var store: @Sendable (PairedService, ClientGateHandler.PairingStep, SocketAddress?) throws -> Void = { _, _, _ in }
        /// The answer, from a service reached at that address; `nil` if it does not answer what was asked.
        let answer: @Sendable (ClientGateHandler.Outcome, SocketAddress?) -> Answer?
        /// Why there is none.
        let explain: @Sendable (ClientGateHandler.Failure) -> ElementalError
    }

    let connector: Connector
    /// Identity and trusted services are read here.
    let prepare: @Sendable (ClientSecurity.Keys) throws -> Work

    /// Connects, asks, and closes the connection.
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
            return try await eventLoop.flatSubmit { dial(work, on: eventLoop) }.get()
        } catch let error as ElementalError {
            throw error
        } catch {
            throw connector.explain(error, connector.endpoint)
        }
    }

    private func dial(_ work: Work, on eventLoop: any EventLoop) -> EventLoopFuture<Answer> {
        let promise = eventLoop.makePromise(of: Answer.self)
        connector.options.network
            .connect(to: connector.endpoint, named: connector.peerName, connector.options, on: eventLoop)
            .assumeIsolated()
            .whenComplete { result in
                do {
                    try begin(on: result.get(), work, promise)
                } catch {
                    promise.fail(error)
                }
            }
        return promise.futureResult
    }

    private func begin(on channel: any Channel, _ work: Work, _ promise: EventLoopPromise<Answer>) throws {
        let eventLoop = channel.eventLoop
        let address = channel.remoteAddress
        let plan = ClientGateHandler.Plan(
            accepts: work.accepts, makeAdmission: work.makeAdmission,
            store: { service, step in
                NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try work.store(service, step, address) }
            },
            timeout: TimeAmount(connector.options.timeout))
        try ClientGateHandler.begin(on: channel, as: work.identity, plan) { result in
            switch result {
            case .success(let outcome):
                if let answer = work.answer(outcome, address) {
                    promise.succeed(answer)
                } else {
                    promise.fail(
                        ElementalError(.connectionFailed, "'\(connector.peerName)' does not answer as expected"))
                }
                // There will be no session on it.
                if case .authorised = outcome { channel.close(promise: nil) }
            case .failure(let failure):
                promise.fail(work.explain(failure))
            }
        }
    }
}
