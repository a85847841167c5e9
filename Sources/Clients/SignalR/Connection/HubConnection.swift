import ClientTransport
import Logging
import NIOCore
import NIOPosix
import Support

/// A connection to a SignalR hub: calls the hub's methods and handles the hub's calls.
///
/// ```swift
/// let connection = HubConnectionBuilder(url: "http://localhost:5000/chat").withAutoReconnect().build()
/// connection.on("AddMessage") { (user: String, message: String) in print("\(user): \(message)") }
/// try await connection.start()
/// try await connection.invoke("Send", "Ada", "Hello")
/// ```
///
/// It works on one event loop. An open connection stays open until ``stop()``, even when nothing refers to it.
public actor HubConnection {
    /// State that can be read from any thread.
    struct Status {
        var state = ConnectionState.disconnected
        var connectionID: String?
        var transport: TransportKind?
    }

    nonisolated let url: String
    nonisolated let codec: any HubCodec
    nonisolated let policy: (any ReconnectionPolicy)?
    nonisolated let options: HubConnectionOptions
    nonisolated let logger: Logger
    nonisolated let eventLoop: any EventLoop
    nonisolated let dialer: Dialer
    nonisolated let handlers = MethodHandlers()
    nonisolated let queue: HandlerQueue
    nonisolated let lifecycle = EventHub<ConnectionEvent>()
    nonisolated let status = Locked(Status())

    /// The connection's executor is its event loop, so that channel handlers call it without a thread hop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    var phase = ConnectionState.disconnected {
        didSet {
            let open = phase == .connected ? session : nil
            status.withLock { $0 = Status(state: phase, connectionID: open?.connectionID, transport: open?.kind) }
        }
    }
    /// Counts starts and ends, so that work of an earlier run does not affect a later one.
    var run: UInt64 = 0
    var opening: Task<Void, Never>?
    var starting: Outcome<Result<Void, SignalRError>>?
    /// Opened when the connection that is being stopped has ended.
    var stopping = Latch()
    var session: HubSession?
    /// The number of network reads, over all sessions.
    var receivedPieces: UInt64 = 0
    var openedAt = NIODeadline.uptimeNanoseconds(0)
    /// Connections in a row that were lost soon after they were opened.
    var shortLived = ShortLivedConnections()

    init(
        url: String, codec: any HubCodec, policy: (any ReconnectionPolicy)?, options: HubConnectionOptions,
        logger: Logger
    ) {
        self.url = url
        self.codec = codec
        self.policy = policy
        self.options = options
        let logger = logger.printable
        self.logger = logger
        eventLoop = options.eventLoopGroup.next()
        dialer = Dialer(
            eventLoop: eventLoop, timeout: TimeAmount(options.handshakeTimeout), tls: options.tlsConfiguration)
        queue = HandlerQueue(handlers: handlers, limit: options.maximumUndeliveredSize, logger: logger)
    }

    deinit { queue.finish() }

    // MARK: - State

    /// The state of the connection.
    public nonisolated var state: ConnectionState { status.withLock { $0.state } }

    /// The server's id of the connection, while it is open and was negotiated.
    public nonisolated var connectionID: String? { status.withLock { $0.connectionID } }

    /// The transport of the connection while it is open.
    public nonisolated var transport: TransportKind? { status.withLock { $0.transport } }

    /// The connection's events from now on. Each access returns a stream of its own.
    public nonisolated var events: AsyncStream<ConnectionEvent> { lifecycle.makeEventStream() }

    /// Calls `handler` with every event of the connection, on its event loop. It must not block.
    @discardableResult
    public nonisolated func onEvent(_ handler: @escaping @Sendable (ConnectionEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(lifecycle.addEventHandler(handler))
    }

    // MARK: - Starting

    /// Opens the connection.
    ///
    /// - Throws: ``SignalRError`` that says which step failed; ``SignalRError/Code/alreadyStarted`` if the connection is
    ///   not ``ConnectionState/disconnected``; ``SignalRError/Code/cancelled`` at once when the task is cancelled.
    public func start() async throws(SignalRError) {
        guard phase == .disconnected else {
            throw SignalRError(.alreadyStarted, "the connection is \(phase): start it when it is disconnected")
        }
        run += 1
        phase = .connecting
        let started = Outcome<Result<Void, SignalRError>>()
        starting = started
        opening = Task { [run] in await self.open(run) }
        guard let result = await started.value() else {
            let error = SignalRError(.cancelled, "the task that started the connection was cancelled")
            if starting === started { giveUpOpening(error) }
            throw error
        }
        try result.get()
    }

    private func open(_ run: UInt64) async {
        do throws(SignalRError) {
            let session = try await connect()
            guard run == self.run else { return session.end() }
            begin(session, .opened)
            let isWanted = starting?.resolve(.success(())) ?? true
            starting = nil
            // The task that started it was cancelled just before.
            if !isWanted { await stop() }
        } catch {
            guard run == self.run else { return }
            giveUpOpening(error)
        }
    }

    private func giveUpOpening(_ error: SignalRError) {
        run += 1
        opening?.cancel()
        opening = nil
        session?.end()
        session = nil
        phase = .disconnected
        logger.debug("cannot open", metadata: ["url": "\(ServerURL.withoutCredentials(url))", "error": "\(error)"])
        lifecycle.emit(.failedToOpen(error))
        starting?.resolve(.failure(error))
        starting = nil
    }

    func begin(_ session: HubSession, _ event: ConnectionEvent) {
        opening = nil
        session.isOpen = true
        openedAt = options.now()
        phase = .connected
        logger.debug("open", metadata: ["url": "\(url)", "transport": "\(session.kind)"])
        startTimers(session)
        lifecycle.emit(event)
        // Messages that arrived together with the handshake.
        process(session)
        if let loss = session.earlyLoss { lost(session, loss) }
    }

    // MARK: - Stopping

    /// Closes the connection, which can then be started again. Pending calls fail with ``SignalRError/Code/stopped``.
    ///
    /// Returns when the connection is closed, also in a cancelled task. It waits at most 2 s for the server's answer.
    public func stop() async {
        switch phase {
        case .disconnected:
            return
        case .connecting:
            giveUpOpening(SignalRError(.stopped, "the connection was stopped while it was being opened"))
        case .reconnecting:
            opening?.cancel()
            opening = nil
            session?.end()
            session = nil
            finish(nil)
        case .disconnecting:
            await uncancelled { [stopping] in _ = await stopping.wait() }
        case .connected:
            await close()
        }
    }

    private func close() async {
        guard let session else { return finish(nil) }
        phase = .disconnecting
        stopping = Latch()
        run += 1
        session.isOpen = false
        session.fail(SignalRError(.stopped, "the connection was stopped"))
        if let transport = session.transport {
            transport.send(encoded(.close(error: nil, allowReconnect: false)))
            let closed = Outcome<Void>()
            transport.close().whenComplete { _ in closed.resolve(()) }
            // Each transport limits its own closing. This limit is for one that hangs.
            await uncancelled { [eventLoop] in
                _ = await closed.value(within: HubSession.closeTimeout, on: eventLoop) {}
            }
        }
        session.end()
        self.session = nil
        finish(nil)
    }

    func finish(_ error: SignalRError?) {
        run += 1
        phase = .disconnected
        logger.debug("closed", metadata: ["url": "\(url)", "error": "\(error.map { "\($0)" } ?? "none")"])
        lifecycle.emit(.closed(error))
        stopping.open()
    }
}
