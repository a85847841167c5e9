import ElementalWire
import Logging
import NIOCore

/// One connection on its event loop: the channel handler that turns bytes into values and the queue into writes.
///
/// Everything in it happens on the loop. Other threads reach it through the device's lock and ``Connection``.
final class Session: ChannelDuplexHandler, ConnectionHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    let device: ElementalDevice
    let logger: Logger
    /// A client that knows that the service says hello is ready only after it and the catalogue.
    let expectsHello: Bool
    var owner: (any SessionOwner)?
    var table: ElementTable { didSet { rules = table.rules } }
    /// The device's, which the device keeps: followed for every value, without a reference count.
    private let newest: Unmanaged<NewestValues>
    /// The device's too. It runs the tasks that a read makes ready.
    private let executor: Unmanaged<LoopExecutor>
    /// What an element must allow for the peer to send it.
    let takes: Access
    /// Those of the table, at hand.
    private(set) var rules: UnsafePointer<ElementTable.Rule>
    var handshake: Handshake
    var decoder: StreamDecoder
    var pieces: PieceAssembler
    /// What the values take that have not come whole, as the owner knows it.
    var gatheredByteCount = 0
    /// Bytes of pieces that came, and whether the peer has yet to be told.
    var takenByteCount: UInt32 = 0
    var needsAck = false
    var context: ChannelHandlerContext?
    var datagramSink: DatagramSink?
    /// `nil` where the channel is no socket, and before it is connected.
    private(set) var socket: StreamSocket?
    /// What is being written, in pieces where the socket takes no more.
    var outgoing: OutboundSegment?
    /// When a flush comes because values are being gathered; `nil` if no timer runs for it.
    var gatheringEnd: NIODeadline?
    /// Where the peer is, known once the connection is there.
    private(set) var host: PeerHost?
    /// The client's UDP identifier, 1...254, or 0.
    var udpIdentifier: UInt8 = 0
    var isReady = false
    var ending = Ending.none
    var handshakeDeadline: Scheduled<Void>?
    /// `nil` where the peer answers no pings.
    var heartbeat: Heartbeat?
    var heartbeatTimer: Scheduled<Void>?
    var heartbeatSentAt: NIODeadline?
    /// Looks whether the peer takes anything of what waits for it.
    var stuckTimer: Scheduled<Void>?
    /// Values that came in the second under way, where they are limited.
    var throttle: Throttle?
    var unknownInARow = 0
    /// Bytes that the stream's socket took.
    var writtenByteCount = 0
    /// Whether a batch of reads is under way, at whose end everything queued is written.
    private(set) var isReading = false
    var received = DeviceStatistics()

    private var hasStarted = false
    private var wantsRead = false
    private var own: HandlerView
    /// The service's, which every device of it shares.
    private var shared: HandlerView
    let sharedHandlers: HandlerTable

    /// Whether its end has not begun.
    var isOpen: Bool {
        guard case .none = ending else { return false }
        return true
    }

    /// How far the end has come.
    enum Ending {
        case none
        /// What is queued is still being sent.
        case draining(DisconnectReason)
        /// Our side is closed; the other end's close is awaited.
        case closed(DisconnectReason)
        case over
    }

    init(
        device: ElementalDevice, table: ElementTable, sharedHandlers: HandlerTable?, expectsHello: Bool,
        owner: any SessionOwner, logger: Logger
    ) {
        self.device = device
        self.table = table
        rules = table.rules
        newest = .passUnretained(device.newest)
        executor = .passUnretained(device.loopExecutor)
        takes = device.role == .client ? .write : .read
        own = HandlerView(device.handlers)
        self.sharedHandlers = sharedHandlers ?? .none
        shared = HandlerView(self.sharedHandlers)
        self.expectsHello = expectsHello
        self.owner = owner
        self.logger = logger
        handshake = Handshake(peer: device.role)
        throttle = device.limits.maximumMessagesPerSecond.map { Throttle(limit: $0) }
        decoder = StreamDecoder(maximumValueByteCount: device.limits.maximumValueByteCount)
        pieces = PieceAssembler(maximumValueByteCount: device.limits.maximumValueByteCount)
    }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        start()
        context.fireChannelActive()
    }

    /// Begins the handshake on an active channel, once: whether a client's channel tells its activity before or after
    /// the session joins it depends on how it was connected.
    func start() {
        guard let context, !hasStarted else { return }
        hasStarted = true
        host = context.remoteAddress.map(PeerHost.init)
        socket = StreamSocket(context.pipeline)
        let limit = device.limits.handshakeTimeout
        handshakeDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) { [self] in
            guard !isReady else { return }
            end(DisconnectReason(.timedOut("\(handshake.awaited) did not come within \(limit)"), isExpected: false))
        }
        owner?.sessionOpened(self)
        flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(DisconnectReason(.closedByPeer, isExpected: device.role == .client))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(DisconnectReason(.networkError(Self.describe(error)), isExpected: false))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receive(unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) { finishReading() }

    func read(context: ChannelHandlerContext) {
        // A device may be paused while it reconnects: the handshake is read all the same.
        if isReady, case .none = ending, device.isPaused || throttle?.isOver == true {
            wantsRead = true
        } else {
            context.read()
        }
    }

    /// Goes on reading after a pause.
    func resumeReading() {
        guard wantsRead, !device.isPaused, throttle?.isOver != true else { return }
        wantsRead = false
        context?.read()
    }

    // MARK: Reading

    /// What a read from the socket takes: little on a quiet connection, and on a busy one so much that most long values
    /// lie whole within it.
    static let receiveAllocator = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 1024, maximum: 256 * 1024)

    /// Begins a batch of reads, unless one is under way.
    ///
    /// - Returns: whether this call began it.
    func beginReading() -> Bool {
        if isReading { return false }
        isReading = true
        executor._withUnsafeGuaranteedRef { $0.beginBatch() }
        return true
    }

    /// Ends the batch: counts are published, and what the handlers sent leaves in one write.
    func finishReading() {
        endBatch()
        heartbeat?.lastHeard = .now()
        if device.role == .client, !isReady, handshake.hasName { becomeReady() }
        let batch = received
        received = DeviceStatistics()
        device.inbound.withLock { $0.statistics.addReceived(batch) }
        watch(batch)
        flush()
    }

    /// Runs the tasks that the reads made ready. A read that fails ends its batch without being completed.
    func endBatch() {
        guard isReading else { return }
        executor._withUnsafeGuaranteedRef { $0.endBatch() }
        isReading = false
    }

    private func receive(_ buffer: ByteBuffer) {
        _ = beginReading()
        received.bytesReceived += buffer.readableBytes
        guard case .none = ending else { return discardGathered() }
        defer { device.newest.returnBorrowed() }
        do {
            try buffer.withUnsafeReadableBytes { bytes throws(WireError) in
                try decoder.decode(bytes) { id, length in
                    keptByteCount(id, length)
                } _: { id, value in
                    if id < 0 {
                        receiveSystem(id, value.bytes, over: .tcp)
                    } else if value.bytes.count >= ReadBuffer.longByteCount, !value.isLong {
                        ReadBuffer.lend(value.bytes, of: buffer) { deliver(id, $0) }
                    } else {
                        deliver(id, value)
                    }
                    if case .none = ending { return .next }
                    return .stop
                }
            }
            tellPending()
        } catch {
            violate(error)
        }
        watchGathered()
    }

    /// Ends the connection because what came breaks the rules.
    func violate(_ error: WireError) {
        end(
            DisconnectReason(.protocolViolation(String(describing: error)), isExpected: false),
            shutdownText: "protocol violation: \(error)")
    }

    /// Hands on a value that came in pieces.
    func deliverWhole(_ id: Int8, _ value: ReceivedBytes) { deliver(id, value) }

    /// One message of a datagram that was found to be of this connection's peer.
    func receiveDatagram(_ id: Int8, _ value: UnsafeRawBufferPointer) {
        guard case .none = ending else { return }
        received.bytesReceived += Envelope.datagramByteCount + value.count
        if throttle?.isOver == true {
            received.messagesRejected += 1
            return
        }
        if id >= 0 { deliver(id, ReceivedBytes(value)) } else { receiveSystem(id, value, over: .udp) }
    }

    /// Checks a value and hands it to everyone who asked for it.
    @inline(__always)
    private func deliver(_ id: Int8, _ value: ReceivedBytes) {
        if !isReady {
            // An older client may be slow with its name; a value says that it means to talk.
            guard device.role == .client else { return }
            becomeReady()
            guard case .none = ending else { return }
        }
        let rule = rules + Int(id)
        guard rule.pointee.isDefined else {
            received.messagesUnknown += 1
            return
        }
        guard rule.pointee.isWellFormed(value.bytes) else {
            received.messagesMalformed += 1
            return
        }
        guard rule.pointee.access.contains(takes) else {
            // Of a long one nothing was gathered.
            return reject(id, .notAllowed)
        }
        guard !value.bytes.isEmpty || handshake.hasHello else {
            received.messagesMalformed += 1
            return
        }
        guard rule.pointee.allows(value.bytes) else { return reject(id, .outOfRange) }
        received.messagesReceived += 1
        // Looked at for every message: a handler of the one before may have added or cancelled one. Both before the
        // first call: a handler that this call adds gets the value as the newest, and not again. And before the value
        // is the newest one: a handler that was added meanwhile is given those that came before it.
        if shared.isStale { shared.refresh() }
        if own.isStale { refreshOwn() }
        newest._withUnsafeGuaranteedRef { $0.set(id, value) }
        call(shared.handlers, id, value)
        call(own.handlers, id, value)
    }

    @inline(never)
    private func reject(_ id: Int8, _ reason: ValueRefusal.Reason) {
        received.messagesRejected += 1
        owner?.session(self, refuses: id, reason)
    }

    @inline(never)
    private func refreshOwn() {
        device.handlers.catchUp()
        own.refresh()
    }

    @inline(__always)
    private func call(_ handlers: Unmanaged<HandlerSnapshot>, _ id: Int8, _ value: ReceivedBytes) {
        handlers._withUnsafeGuaranteedRef { handlers in
            handlers.call(id, value, device)
            if handlers.hasForAll { callForAll(handlers.forAll, id, value) }
        }
    }

    @inline(never)
    private func callForAll(_ handlers: [AnyValueHandler], _ id: Int8, _ value: ReceivedBytes) {
        guard let element = table.catalogue[id: id] else { return }
        for handler in handlers { handler(element, value, device) }
    }
}
