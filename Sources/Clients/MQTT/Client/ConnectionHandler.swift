import NIOCore
import Support

/// One connection to a broker, from CONNECT to its end. On its event loop only.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    typealias RequestHandler = (Result<[UInt8], MQTTError>) -> Void

    /// What is collected for one turn of the event loop is written at once when it reaches this.
    private static let flushThreshold = 64 << 10
    /// A larger payload is written from its own memory instead of being copied.
    private static let maximumCopy = 16 << 10
    /// How long before a broker that seems to be dead counts as dead: long enough for a look at the socket.
    private static let confirmation = TimeAmount.milliseconds(10)
    private static let closeTimeout = TimeAmount.milliseconds(500)

    private let core: ClientCore
    private let connectPacket: OutgoingPacket.Connect
    private let keepAlive: TimeAmount
    private let queuedBytes: QueuedBytesHandler
    private var machine: SessionMachine
    private var decoder: PacketDecoder
    private var hold = ReadHold()
    /// Until it ends, as the owner holds this.
    private var owner: ConnectionKeeper?
    private var context: ChannelHandlerContext?
    private var didConnect = false
    private var isOver = false
    /// Why it ended before anyone was there to be told.
    private var earlyEnd: MQTTError??

    /// Packets of this turn of the event loop. Its memory is kept from one flush to the next.
    private var outgoing = ByteBuffer()
    private var isFlushScheduled = false
    /// The broker seems to be dead, and is given another look.
    private var isConfirming = false
    private var hasNewRoom = false
    /// Who waits for the acknowledgement of a message, and is told when there will be none.
    private var senders: [UInt16: OutgoingMessage.Sender] = [:]
    private var requests: [UInt16: RequestHandler] = [:]
    private var keepAliveTimer: Scheduled<Void>?
    private var holdTimer: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?

    private init(
        _ core: ClientCore, _ connectPacket: OutgoingPacket.Connect, _ queuedBytes: QueuedBytesHandler, now: NIODeadline
    ) {
        self.core = core
        self.connectPacket = connectPacket
        self.queuedBytes = queuedBytes
        keepAlive = TimeAmount(core.options.keepAlive)
        machine = SessionMachine(keepAlive: keepAlive, maximumInFlight: core.options.maximumInFlight, now: now)
        decoder = PacketDecoder(limit: core.options.maximumPacketSize)
    }

    /// Adds the handlers of a connection to a channel, behind TLS if it has any.
    static func add(to channel: any Channel, _ core: ClientCore, _ connectPacket: OutgoingPacket.Connect) throws {
        try SocketTuning.apply(to: channel)
        let queuedBytes = QueuedBytesHandler()
        try channel.pipeline.syncOperations.addHandler(queuedBytes, position: .first)
        try channel.pipeline.syncOperations.addHandler(
            ConnectionHandler(core, connectPacket, queuedBytes, now: channel.eventLoop.now))
    }

    // MARK: - Beginning and ending

    /// Asks the broker for a session. Until then the connection is one of several that were tried.
    func begin(_ owner: ConnectionKeeper) {
        if let earlyEnd { return owner.ended(earlyEnd) }
        self.owner = owner
        if context?.channel.isActive == true { connect() }
    }

    /// A channel may be active before it says so.
    private func connect() {
        guard !didConnect else { return }
        didConnect = true
        connectPacket.write(to: &outgoing)
        flush()
    }

    /// Sends DISCONNECT and waits a little until the broker closes the connection.
    func disconnect() {
        guard !isOver, machine.phase == .connected else { return }
        outgoing.writeDisconnect()
        flush()
        machine.disconnect()
        guard !isOver else { return }
        closeTimer = schedule(in: Self.closeTimeout) { $0.end(nil) }
    }

    /// - Parameter error: why; `nil` if it was wanted.
    func end(_ error: MQTTError?) {
        guard !isOver else { return }
        isOver = true
        for timer in [keepAliveTimer, holdTimer, closeTimer] { timer?.cancel() }
        core.statistics.withLock { $0.inFlight = 0 }
        let reason =
            error.map { MQTTError(.connectionLost, "the connection was lost before the broker had answered: \($0)") }
            ?? MQTTError(.stopped, "the client was stopped before the broker had answered")
        let (senders, requests) = (senders, requests)
        self.senders = [:]
        self.requests = [:]
        for sender in senders.values { sender.resolve(.failure(reason)) }
        for handler in requests.values { handler(.failure(reason)) }
        context?.close(promise: nil)
        guard let owner else { return earlyEnd = .some(error) }
        self.owner = nil
        owner.ended(error)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        channelEnded()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        if owner != nil { connect() }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        channelEnded()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { channelEnded(error) }

    private func channelEnded(_ error: (any Error)? = nil) {
        switch machine.phase {
        case .connecting: end(error.map { MQTTError(connecting: $0, core.address) } ?? MQTTError.closed(core.address))
        case .connected: end(.lost(error, clientID: core.clientID))
        case .closing: end(nil)
        }
    }

    // MARK: - Sending

    /// Whether nothing keeps a message without acknowledgement from being sent.
    var isWritable: Bool { !isOver && machine.phase == .connected && context?.channel.isWritable == true }
    /// Whether one that wants an acknowledgement may be sent as well.
    var hasRoom: Bool { machine.hasRoom }
    var isAwaited: Bool { !senders.isEmpty || !requests.isEmpty }

    /// Sends a message, which ``isWritable`` and ``hasRoom`` must allow.
    func send(_ message: OutgoingMessage) {
        var identifier: UInt16 = 0
        if message.qos == .atLeastOnce {
            guard let free = machine.publish() else { preconditionFailure("there is no room in flight") }
            identifier = free
            if let sender = message.sender { senders[identifier] = sender }
        }
        let size = message.payload.readableBytes
        outgoing.writePublishHeader(
            message.topic, payloadSize: size, qos: message.qos, isRetained: message.isRetained, identifier: identifier)
        core.statistics.withLock {
            $0.messagesSent += 1
            $0.inFlight = machine.inFlight
        }
        if size <= Self.maximumCopy {
            outgoing.writeImmutableBuffer(message.payload)
            if outgoing.readableBytes >= Self.flushThreshold { flush() } else { scheduleFlush() }
        } else {
            flush(followedBy: message.payload)
        }
        if message.qos == .atMostOnce { message.sender?.resolve(.success(())) }
    }

    /// - Parameter codes: how many codes the answer has: one for each filter of a SUBSCRIBE, none for an UNSUBSCRIBE.
    func request(
        codes: Int, _ handler: @escaping RequestHandler, _ write: (inout ByteBuffer, _ identifier: UInt16) -> Void
    ) {
        guard let identifier = machine.request(codes: codes) else {
            let what = "the broker has not answered \(SessionMachine.maximumRequests) subscriptions and their ends"
            return handler(.failure(MQTTError(.queueFull, what)))
        }
        requests[identifier] = handler
        write(&outgoing, identifier)
        scheduleFlush()
    }

    /// Writes what this turn of the event loop collects when the turn is over.
    private func scheduleFlush() {
        guard !isFlushScheduled, let context else { return }
        isFlushScheduled = true
        context.eventLoop.assumeIsolated().execute { [self] in
            isFlushScheduled = false
            flush()
        }
    }

    /// - Parameter payload: of the last packet, if it was not collected with the rest.
    private func flush(followedBy payload: ByteBuffer? = nil) {
        guard let context, !isOver else { return }
        core.statistics.withLock { $0.bytesSent += outgoing.readableBytes + (payload?.readableBytes ?? 0) }
        if outgoing.readableBytes > 0 { context.write(Self.wrapOutboundOut(outgoing), promise: nil) }
        if let payload { context.write(Self.wrapOutboundOut(payload), promise: nil) }
        context.flush()
        // Takes other memory if the channel still needs this, which it does not while the network takes everything.
        outgoing.clear()
        machine.keepAlive.sent(at: context.eventLoop.now, inFlight: machine.unanswered)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            if hold.becameWritable() { context.read() }
            // Not from within the flush that has made room.
            context.eventLoop.assumeIsolated().execute { [self] in owner?.drain() }
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: - Receiving

    func read(context: ChannelHandlerContext) {
        switch hold.read(inFlight: machine.phase == .connected ? machine.inFlight : 0) {
        case .read: context.read()
        case .wait: break
        case .hold(let time):
            holdTimer = schedule(in: time) { handler in
                if handler.hold.pauseEnded() { handler.context?.read() }
            }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        let bytes = Self.unwrapInboundIn(data)
        let now = context.eventLoop.now
        core.statistics.withLock { $0.bytesReceived += bytes.readableBytes }
        machine.keepAlive.received(at: now)
        decoder.append(bytes)
        do throws(MQTTError) {
            while !isOver, let packet = try decoder.next() { perform(try machine.receive(packet, at: now)) }
        } catch {
            end(error)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if hasNewRoom {
            hasNewRoom = false
            owner?.drain()
        }
        context.fireChannelReadComplete()
    }

    private func perform(_ step: SessionMachine.Step) {
        switch step {
        case .none: break
        case .connected:
            scheduleKeepAlive(in: keepAlive)
            owner?.connected(self)
        case .deliver(let message, let identifier):
            core.statistics.withLock {
                $0.messagesReceived += 1
                if message.isDuplicate { $0.duplicatesReceived += 1 }
            }
            core.messages.emit(message)
            guard identifier != 0, !isOver else { return }
            outgoing.writePubAck(identifier)
            hold.queued(4, isWritable: context?.channel.isWritable ?? true)
            if outgoing.readableBytes >= Self.flushThreshold { flush() } else { scheduleFlush() }
        case .acknowledged(let identifier):
            hasNewRoom = true
            core.statistics.withLock { $0.inFlight = machine.inFlight }
            if !senders.isEmpty { senders.removeValue(forKey: identifier)?.resolve(.success(())) }
        case .unexpected: core.statistics.withLock { $0.unexpectedAcknowledgements += 1 }
        case .answered(let identifier, let codes):
            hasNewRoom = true
            requests.removeValue(forKey: identifier)?(.success(codes))
        }
    }

    // MARK: - Keep-alive

    private func scheduleKeepAlive(in time: TimeAmount) {
        keepAliveTimer = schedule(in: time) { $0.checkKeepAlive() }
    }

    private func checkKeepAlive() {
        guard let channel = context?.channel, !isOver, machine.phase == .connected else { return }
        let now = channel.eventLoop.now
        let step = step(now, channel)
        // A step that ends the connection must be the answer twice, with a turn of the event loop in between that looks at
        // the socket: after a time in which the loop did not run, because the machine slept or something blocked it,
        // timers fire before what has arrived meanwhile is read.
        isConfirming = !isConfirming && (step == .timedOut || step == .unacknowledged)
        if isConfirming { return scheduleKeepAlive(in: Self.confirmation) }
        switch step {
        case .wait(let time): scheduleKeepAlive(in: time - now)
        case .ping:
            outgoing.writePingReq()
            flush()
            machine.keepAlive.pinged(at: now, queued: queuedBytes.queued, written: queuedBytes.written(channel))
            if case .wait(let time) = self.step(now, channel) { scheduleKeepAlive(in: time - now) }
        case .timedOut:
            let time = Duration.nanoseconds(keepAlive.nanoseconds * 3 / 2)
            end(MQTTError(.timedOut, "the broker has not answered for \(time)"))
        case .unacknowledged:
            let what = "the broker answers pings, but has acknowledged none of \(machine.unanswered) packets"
            end(MQTTError(.timedOut, "\(what) for \(Duration.nanoseconds(keepAlive.nanoseconds * 2))"))
        }
    }

    private func step(_ now: NIODeadline, _ channel: any Channel) -> KeepAlive.Step {
        machine.keepAlive.step(at: now, queued: queuedBytes.queued, written: queuedBytes.written(channel))
    }

    private func schedule(in time: TimeAmount, _ body: @escaping (ConnectionHandler) -> Void) -> Scheduled<Void>? {
        context?.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            if let self { body(self) }
        }
    }
}
