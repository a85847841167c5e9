import ElementalSecurity
import NIOCore
import NIOSSL
import NIOTLS
import Support

/// The handler above TLS until a client's connection has a session: carries out what a ``ClientAdmission`` decides.
final class ClientGateHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    enum Outcome: Sendable {
        case authorised(AuthorisingService)
        case asked(PairingOffer)
        case windowOpened(OpenedPairing)
        case revoked(RemoteRevocation)
    }

    enum Failure: Error {
        case otherKey(Fingerprint)
        /// The peer does not speak TLS, or the handshake failed.
        case notEncrypted(String)
        case timedOut
        /// A host that has begun too many handshakes gets no answer.
        case unanswered
        case closed
        case refused(AdmissionRefusal)
        case notStored(any Error)

        /// How long to wait before the only other attempt; `nil` if there is none. Nothing was asked for yet.
        var pauseBeforeRetry: TimeAmount? {
            switch self {
            // Handshakes are limited per second.
            case .unanswered: .seconds(1)
            // A service takes a client whose first bytes are lost, or come late, for a plain one.
            case .notEncrypted: .zero
            default: nil
            }
        }
    }

    enum PairingStep: Sendable {
        case pending, complete, withdrawn
    }

    typealias Store = (PairedService, PairingStep) -> EventLoopFuture<Void>

    private enum Phase {
        case handshake
        case admission(ClientAdmission)
        case over
    }

    private let connector: Connector
    private let request: AdmissionRequest
    private let store: Store
    private let rejected = Locked<Fingerprint?>(nil)
    private let completion: (Result<Outcome, Failure>) -> Void
    private var phase = Phase.handshake
    private var failure: (any Error)?
    private var timer: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    /// Encrypts a connected channel, and begins to read from it.
    ///
    /// - Parameter completion: called once. If the client is authorised, it adds the session, which then receives the
    ///   bytes that follow; otherwise the channel is closed.
    static func begin(
        on channel: any Channel, _ connector: Connector, _ request: AdmissionRequest, store: Store? = nil,
        completion: @escaping (Result<Outcome, Failure>) -> Void
    ) throws {
        let store = store ?? { _, _ in channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported) }
        let handler = ClientGateHandler(connector, request, store, completion)
        let tls = try request.identity.makeClientHandler { [rejected = handler.rejected] key in
            if request.accepts(key) { return true }
            rejected.withLock { $0 = key }
            return false
        }
        let pipeline = channel.pipeline.syncOperations
        // The handshake begins when its handler is added.
        try pipeline.addHandler(handler)
        try pipeline.addHandlers([DirectWriteHandler(), tls], position: .before(handler))
        channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
    }

    private init(
        _ connector: Connector, _ request: AdmissionRequest, _ store: @escaping Store,
        _ completion: @escaping (Result<Outcome, Failure>) -> Void
    ) {
        self.connector = connector
        self.request = request
        self.store = store
        self.completion = completion
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let timeout = TimeAmount(connector.options.timeout)
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in fail(.timedOut) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        fail(.closed)
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let key = rejected.withLock({ $0 }) { return fail(.otherKey(key)) }
        switch error {
        case NIOSSLError.uncleanShutdown, is IOError, is ChannelError: fail(.closed)
        case NIOSSLError.handshakeFailed(BoringSSLError.sslError(let stack)) where stack.contains(.eofDuringHandshake):
            fail(.closed)
        case is NIOSSLError, is BoringSSLError: fail(.notEncrypted("the TLS handshake failed or was broken off"))
        default: fail(.notEncrypted(NetworkFailure(error).reason))
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted(let negotiated): beginAdmission(negotiated, context)
        case is TLSUserEvent: break
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).withUnsafeReadableBytes { bytes in advance { $0.receive(bytes) } }
    }

    private func beginAdmission(_ negotiated: String?, _ context: ChannelHandlerContext) {
        guard case .handshake = phase else { return }
        guard negotiated == TLSIdentity.applicationProtocol, let key = TLSIdentity.fingerprint(of: context.pipeline)
        else { return fail(.notEncrypted("it does not speak \(TLSIdentity.applicationProtocol)")) }
        phase = .admission(
            ClientAdmission(
                request.purpose, service: connector.service, name: connector.ownName,
                own: request.identity.fingerprint, peer: key, pinned: request.pinned))
        advance { $0.start() }
    }

    private func advance(_ body: (inout ClientAdmission) -> [ClientAdmission.Action]) {
        guard case .admission(var admission) = phase else { return }
        let actions = body(&admission)
        phase = .admission(admission)
        for action in actions { perform(action) }
    }

    /// A pairing may complete after the connection has ended.
    private func perform(_ action: ClientAdmission.Action) {
        let context = context
        switch action {
        case .send(let bytes):
            context?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
        case .store(let service, let isPending):
            store(service, isPending ? .pending : .complete).assumeIsolated().whenComplete { [self] result in
                // The service is only notified that storing failed, without details of this machine's files.
                failure = if case .failure(let error) = result { error } else { nil }
                advance { $0.stored(result.mapError { _ in .notStoredByClient }) }
            }
        case .withdraw(let service, let refusal):
            phase = .over
            timer?.cancel()
            store(service, .withdrawn).assumeIsolated().whenComplete { [completion] _ in
                completion(.failure(.refused(refusal)))
                context?.close(promise: nil)
            }
        case .authorised(let service):
            finish(.success(.authorised(service)))
            if let context { beginSession(service, context) }
        case .asked(let offer):
            finish(.success(.asked(offer)))
        case .failed(let refusal):
            finish(.failure(failure.map { .notStored($0) } ?? .refused(refusal)))
        case .windowOpened(let seconds, let role, let secret):
            let window = OpenedPairing(secret: secret, timeLeft: .seconds(Int(seconds)), role: role)
            finish(.success(.windowOpened(window)))
        case .revoked(let count, let names):
            let clients = names.map { RemoteRevocation.Client(fingerprint: $0.fingerprint, name: $0.name) }
            finish(.success(.revoked(RemoteRevocation(letInCount: count, letIn: clients))))
        case .close:
            context?.closeBehindWrites()
        }
    }

    private func beginSession(_ service: AuthorisingService, _ context: ChannelHandlerContext) {
        if !service.remainder.isEmpty {
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: service.remainder)))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func fail(_ failure: Failure) {
        if case .admission(let admission) = phase, admission.isCompleting { return }
        let context = context
        switch (phase, failure) {
        case (.over, _): return
        case (.handshake, .closed): finish(.failure(.unanswered))
        case (.admission, .notEncrypted): finish(.failure(.closed))
        default: finish(.failure(failure))
        }
        context?.close(promise: nil)
    }

    private func finish(_ result: Result<Outcome, Failure>) {
        if case .over = phase { return }
        phase = .over
        timer?.cancel()
        completion(result)
    }
}

/// A pairing window that an admin has opened.
public struct OpenedPairing: Sendable {
    /// The secret that the client has to enter. Show it to the client's user only; do not log or store it.
    public let secret: PairingSecret
    /// How long the window stays open, unless a client pairs or fails five times before.
    public let timeLeft: Duration
    /// The highest role that the client can get: the requested one, but over the network at most ``Role/control``.
    public let role: Role
}

/// What a service did when an admin revoked a client.
public struct RemoteRevocation: Sendable, Hashable {
    /// A client by its name and fingerprint.
    public struct Client: Sendable, Hashable {
        /// The client's key.
        public let fingerprint: Fingerprint
        /// The name that the client gave itself.
        public let name: String
    }

    /// How many clients have paired in windows that the revoked one opened. They keep access: review them.
    public let letInCount: Int
    /// The first of them.
    public let letIn: [Client]
}
