import ElementalWire
import Logging
import NIOCore

/// One connection on its event loop: the channel handler that joins what receives, what sends and what watches the time.
///
/// Everything in it happens on the loop. Other threads reach it through the device's lock and ``Connection``.
final class Session: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    let device: ElementalDevice
    let logger: Logger
    /// A client that knows that the service says hello is ready only after it and the catalogue.
    let expectsHello: Bool
    var owner: (any SessionOwner)?
    let bytes: ByteChannel
    let receiver: Receiver
    let sender: Sender
    let watchdog: Watchdog
    var handshake: Handshake
    var ending = SessionEnding()
    /// Where the peer is; known once the connection is there.
    private(set) var host: PeerHost?
    /// The client's UDP identifier, 1...254, or 0.
    var udpIdentifier: UInt8 = 0
    /// Whether a batch of reads is under way, at whose end everything queued is written.
    private(set) var isReading = false
    private var wantsRead = false
    private var hasStarted = false

    /// - Parameters:
    ///   - sharedHandlers: those of the service, which every device of it shares.
    ///   - bytes: how the connection's bytes are written.
    init(
        device: ElementalDevice, table: ElementTable, sharedHandlers: HandlerTable?, expectsHello: Bool,
        owner: any SessionOwner, logger: Logger, bytes: ByteChannel = ByteChannel()
    ) {
        self.device = device
        self.expectsHello = expectsHello
        self.owner = owner
        self.logger = logger
        self.bytes = bytes
        let progress = ProgressReporter(device: device, shared: sharedHandlers ?? .none)
        receiver = Receiver(device, table, progress)
        sender = Sender(device, bytes, progress, logger: logger)
        watchdog = Watchdog(device, sender)
        handshake = Handshake(peer: device.role)
    }

    /// Whether its end has not begun.
    var isOpen: Bool { ending.isOpen }

    /// Whether values can be sent and are handed on.
    var isReady: Bool { receiver.isReady }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        bytes.attach(context)
        // A cycle of references, which the session's end breaks; no session leaves its channel without one.
        sender.didFlush = { self.didFlush($0) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { handle(.gone(closedByPeer)) }

    func channelActive(context: ChannelHandlerContext) {
        start()
        context.fireChannelActive()
    }

    /// Begins the handshake on an active channel, once: whether a client's channel tells its activity before or after
    /// the session joins it depends on how it was connected.
    func start() {
        guard !hasStarted, isOpen else { return }
        hasStarted = true
        bytes.start()
        host = bytes.remoteAddress.map(PeerHost.init)
        watchdog.start { self.react(to: $0) }
        owner?.sessionOpened(self)
        flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        handle(.gone(closedByPeer))
        context.fireChannelInactive()
    }

    private var closedByPeer: DisconnectReason {
        DisconnectReason(.closedByPeer, isExpected: device.role == .client)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(DisconnectReason(.networkError(Self.describe(error)), isExpected: false))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        beginReading()
        receiver.receive(unwrapInboundIn(data), for: self)
    }

    func channelReadComplete(context: ChannelHandlerContext) { finishReading() }

    func read(context: ChannelHandlerContext) {
        // A device may be paused while it reconnects: the handshake is read all the same.
        if isReady, isOpen, device.isPaused || receiver.isThrottled {
            wantsRead = true
        } else {
            context.read()
        }
    }

    // MARK: Reading

    /// What a read from the socket takes: little on a quiet connection, and on a busy one so much that most long values
    /// lie whole within it.
    static let receiveAllocator = AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 1024, maximum: 256 * 1024)

    /// Begins a batch of reads, unless one is under way.
    ///
    /// - Returns: whether this call began it.
    @discardableResult
    func beginReading() -> Bool {
        if isReading { return false }
        isReading = true
        device.loopExecutor.beginBatch()
        return true
    }

    /// Ends the batch: counts are published, and what the handlers sent leaves in one write.
    func finishReading() {
        endBatch()
        watchdog.noteHeard()
        if device.role == .client, !isReady, handshake.hasName { becomeReady() }
        if let end = receiver.finishBatch(for: self) { resumeReading(at: end) }
        flush()
    }

    /// Runs the tasks that the reads made ready. A read that fails ends its batch without being completed.
    func endBatch() {
        guard isReading else { return }
        device.loopExecutor.endBatch()
        isReading = false
    }

    /// One message of a datagram that was found to be of this connection's peer.
    func receiveDatagram(_ id: Int8, _ value: UnsafeRawBufferPointer) {
        receiver.receiveDatagram(id, value, for: self)
    }

    private func resumeReading(at time: NIODeadline) {
        device.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            if let end = receiver.beginSecond() { resumeReading(at: end) } else { resumeReading() }
        }
    }
}

extension Session: ConnectionHandler {
    func flush() { sender.flush() }

    func resumeReading() {
        guard wantsRead, !device.isPaused, !receiver.isThrottled else { return }
        wantsRead = false
        bytes.read()
    }
}

extension Session: ReceiverOwner {
    /// A value says that the other end counts the connection as ready: an older client that is slow with its name, or a
    /// service that has read this client's name and not yet its hello. A client that learns the elements from the service
    /// can make nothing of a value before it has.
    func receiveEarlyValue() {
        if device.role == .client || handshake.hasIdentifier && !receiver.table.catalogue.isEmpty { becomeReady() }
    }

    func noteTaken(_ byteCount: Int) { sender.noteTaken(byteCount) }

    func refuse(_ id: Int8, _ reason: ValueRefusal.Reason) { owner?.session(self, refuses: id, reason) }

    func gathers(_ byteCount: Int) -> String? { owner?.session(self, gathers: byteCount) }
}
