import NIOCore
import Support

/// One connection to a broker, from CONNECT to its end. Used on its event loop only.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    typealias RequestHandler = (Result<[UInt8], MQTTError>) -> Void

    /// When the packets collected in one turn of the event loop reach this many bytes, they are written at once.
    private static let flushThreshold = 64 << 10
    /// The maximum size of a payload that is copied, in bytes. A larger one is written from its own memory.
    private static let maximumCopy = 16 << 10
    /// Grace period before the broker counts as lost: long enough to read from the socket once.
    private static let confirmation = TimeAmount.milliseconds(10)
    private static let closeTimeout = TimeAmount.milliseconds(500)

    private let core: ClientCore
    private let connectPacket: OutgoingPacket.Connect
    private let keepAlive: TimeAmount
    private let queuedBytes: QueuedBytesHandler
    private var machine: SessionMachine
    private var decoder: PacketDecoder
    private var hold = ReadHold()
    /// Cleared when the connection ends, because the owner holds this handler.
    private var owner: ConnectionKeeper?
    private var context: ChannelHandlerContext?
    private var didConnect = false
    private var isOver = false
    /// Why the connection ended before it had an owner.
    private var earlyEnd: MQTTError??

    /// Packets collected in this turn of the event loop. The memory is reused after each flush.
    private var outgoing = ByteBuffer()
    private var isFlushScheduled = false
    /// Whether the broker seems lost and the grace period is running.
    private var isConfirming = false
    private var hasNewRoom = false
    /// The senders that wait for an acknowledgement, by packet identifier. Each is resolved, at the latest when the
    /// connection ends.
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

    /// Adds the handlers of a connection to a channel: the counter of bytes next to the socket, this one after TLS.
    static func add(to channel: any Channel, _ core: ClientCore, _ connectPacket: OutgoingPacket.Connect) throws {
        try SocketTuning.apply(to: channel)
        let queuedBytes = QueuedBytesHandler()
        try channel.pipeline.syncOperations.addHandler(queuedBytes, position: .first)
        try channel.pipeline.syncOperations.addHandler(
            ConnectionHandler(core, connectPacket, queuedBytes, now: channel.eventLoop.now))
    }

    // MARK: - Beginning and ending

    /// Makes this the client's connection and sends CONNECT. Until then it is one of several attempts, one for each
    /// address of the host.
    func begin(_ owner: ConnectionKeeper) {
        if let earlyEnd { return owner.ended(earlyEnd) }
        self.owner = owner
        if context?.channel.isActive == true { connect() }
    }

    /// Sends CONNECT once. A channel may be active before `channelActive` is called.
    private func connect() {
        guard !didConnect else { return }
        didConnect = true
        connectPacket.write(to: &outgoing)
        flush()
    }

    /// Sends DISCONNECT and waits up to ``closeTimeout`` for the broker to close the connection.
    func disconnect() {
        guard !isOver, machine.phase == .connected else { return }
        outgoing.writeDisconnect()
        flush()
        machine.disconnect()
        guard !isOver else { return }
        closeTimer = schedule(in: Self.closeTimeout) { $0.end(nil) }
    }

    /// - Parameter error: the reason; `nil` if the client wanted the end.
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

    /// Whether a message with QoS 0 can be sent.
    var isWritable: Bool { !isOver && machine.phase == .connected && context?.channel.isWritable == true }
    /// Whether the maximum of unacknowledged messages allows one more with QoS 1.
    var hasRoom: Bool { machine.hasRoom }
    var isAwaited: Bool { !senders.isEmpty || !requests.isEmpty }

    /// Sends a message. ``isWritable`` must be true; for QoS 1, ``hasRoom`` too.
    func send(_ message: OutgoingMessage) {
        var identifier: UInt16 = 0
        if message.qos == .atLeastOnce {
            guard let free = machine.publish() else { preconditionFailure("too many unacknowledged messages") }
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

    /// - Parameter codes: the number of codes in the answer: one for each filter of a SUBSCRIBE, none for an
    ///   UNSUBSCRIBE.
    func request(
        codes: Int, _ handler: @escaping RequestHandler, _ write: (inout ByteBuffer, _ identifier: UInt16) -> Void
    ) {
        guard let identifier = machine.request(codes: codes) else {
            let what = "the broker has not answered \(SessionMachine.maximumRequests) earlier requests; wait for it"
            return handler(.failure(MQTTError(.queueFull, what)))
        }
        requests[identifier] = handler
        write(&outgoing, identifier)
        scheduleFlush()
    }

    /// Flushes once after this turn of the event loop.
    private func scheduleFlush() {
        guard !isFlushScheduled, let context else { return }
        isFlushScheduled = true
        context.eventLoop.assumeIsolated().execute { [self] in
            isFlushScheduled = false
            flush()
        }
    }

    /// - Parameter payload: the payload of the last packet, if it is not in `outgoing`.
    private func flush(followedBy payload: ByteBuffer? = nil) {
        guard let context, !isOver else { return }
        core.statistics.withLock { $0.bytesSent += outgoing.readableBytes + (payload?.readableBytes ?? 0) }
        if outgoing.readableBytes > 0 { context.write(Self.wrapOutboundOut(outgoing), promise: nil) }
        if let payload { context.write(Self.wrapOutboundOut(payload), promise: nil) }
        context.flush()
        // Allocates new memory only if the channel still holds this. It does not while the network takes everything.
        outgoing.clear()
        machine.keepAlive.sent(at: context.eventLoop.now, inFlight: machine.unanswered)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            if hold.becameWritable() { context.read() }
            // Deferred, because a flush that is still running may have made the room.
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
        // A step that ends the connection must come twice, with a turn of the event loop in between that reads from the
        // socket. If the loop did not run for a while, because the machine slept or a task blocked it, timers fire
        // before the data that arrived meanwhile is read.
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
