import DequeModule
import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import Support

/// One connection on its event loop: the channel handler that combines receiver, sender and watchdog.
///
/// All of it runs on the loop. Other threads reach it through the device's lock and ``Connection``.
final class Session: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    let device: ElementalDevice
    /// Whether a client is ready only after the service's hello and catalogue.
    let expectsHello: Bool
    var owner: (any SessionOwner)?
    let bytes: ByteChannel
    /// Seals and opens the datagrams of an encrypted connection; `nil` on a plain one.
    let datagramProtection: DatagramProtection?
    let receiver: Receiver
    let sender: Sender
    let watchdog: Watchdog
    var handshake: Handshake
    var ending = Ending.none
    var endReason: DisconnectReason?
    private(set) var host: IPAddress?
    var udpIdentifier: UInt8 = 0
    /// Whether a batch of reads or of timed work is in progress. Everything queued is written at its end.
    private(set) var isInBatch = false
    private var wantsFlush = false
    private var wantsRead = false
    private var hasStarted = false
    /// `nil` until the peer is known to exchange times.
    var clock: ClockExchange?
    var clockTimer: Scheduled<Void>?
    /// A client's history requests that wait for their turn.
    var historyRequests: Deque<HistoryRequest> = []
    /// History requests that wait for a new value.
    var historyFollowers: [HistoryRequest] = []
    var hasHistoryTurn = false
    var awaitsHistoryRoom = false
    let wakefulness: (any Wakefulness)?
    var connection: Connection?

    /// - Parameter sharedHandlers: the service's, shared by all its devices.
    init(
        device: ElementalDevice, table: ElementTable, sharedHandlers: HandlerTable?, expectsHello: Bool,
        owner: any SessionOwner, datagramProtection: DatagramProtection? = nil, latency: Latency = .standard
    ) {
        self.device = device
        self.expectsHello = expectsHello
        self.owner = owner
        bytes = ByteChannel(isPlain: datagramProtection == nil)
        self.datagramProtection = datagramProtection
        let progress = ProgressReporter(device: device, shared: sharedHandlers ?? .none)
        receiver = Receiver(device, table, progress)
        sender = Sender(device, bytes, progress, datagramProtection)
        watchdog = Watchdog(device, sender, receiver)
        handshake = Handshake(peer: device.role)
        wakefulness = latency.wakefulness(on: device.eventLoop)
    }

    var isOpen: Bool { ending == .none }
    var logger: Logger { device.logger }

    var isReady: Bool { receiver.isReady }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        bytes.attach(context)
        // This reference cycle is broken when the session ends, at the latest when it leaves its channel.
        sender.didFlush = { self.didFlush($0) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { channelEnded(closedByPeer) }

    func channelActive(context: ChannelHandlerContext) {
        start()
        context.fireChannelActive()
    }

    /// Begins the handshake on an active channel, once: whether a client's channel becomes active before or after the
    /// session is added depends on how it was connected.
    func start() {
        guard !hasStarted, isOpen else { return }
        hasStarted = true
        bytes.start()
        host = bytes.remoteAddress.flatMap { IPAddress($0) }
        watchdog.start { self.react(to: $0) }
        wakefulness?.start()
        owner?.sessionOpened(self)
        flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        channelEnded(closedByPeer)
        context.fireChannelInactive()
    }

    private var closedByPeer: DisconnectReason {
        DisconnectReason(.closedByPeer, isExpected: device.role == .client)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if bytes.isEnd(error) { return }
        fail(.networkError(ByteChannel.reason(error)))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        beginReading()
        receiver.receive(unwrapInboundIn(data), for: self)
    }

    func channelReadComplete(context: ChannelHandlerContext) { finishReading() }

    func read(context: ChannelHandlerContext) {
        // A device may be paused while it reconnects: the handshake is read regardless.
        if isReady, isOpen, device.isPaused || receiver.isThrottled {
            wantsRead = true
        } else {
            context.read()
        }
    }

    // MARK: Reading

    /// - Returns: whether this call began the batch.
    @discardableResult
    func beginReading() -> Bool {
        if isInBatch { return false }
        isInBatch = true
        wakefulness?.beginBatch()
        connection?.noteRead()
        return true
    }

    /// Ends the batch: counts are published, and what the handlers sent is flushed in one write.
    func finishReading() {
        endBatch()
        if device.role == .client, !isReady, handshake.hasName { becomeReady() }
        if let end = receiver.finishBatch(for: self) { resumeReading(at: end) }
        flushIfDue()
    }

    private func flushIfDue() {
        if wantsFlush || !isOpen || sender.owesAck || device.outbound.withLock({ $0.isFlushDue }) { flush() }
    }

    /// A failed read ends its batch without `channelReadComplete`.
    func endBatch() { isInBatch = false }

    func receiveDatagram(_ id: Int8, _ value: UnsafeRawBufferPointer) {
        receiver.receiveDatagram(id, value, for: self)
    }

    /// Opens a sealed datagram of this connection. A datagram that the peer did not seal is counted; too many of them
    /// end the connection.
    ///
    /// - Parameter others: the budget of all addresses but the peer's; `nil` if the datagram comes from the peer's.
    func open(
        sealed datagram: UnsafeRawBufferPointer, within others: OpeningBudget? = nil
    ) -> (content: UnsafeRawBufferPointer, isNewest: Bool)? {
        guard let datagramProtection else { return nil }
        let opened = datagramProtection.open(datagram, within: others) {
            device.eventLoop.now.uptimeNanoseconds / 1_000_000_000
        }
        if opened != nil { return opened }
        countUnproven { $0.datagramsForged += 1 }
        if datagramProtection.isExhausted {
            fail(.limitReached("too many datagrams with a wrong seal were received"))
        }
        return nil
    }

    /// - Parameter isNewest: whether no newer datagram was received before it.
    func receive(opened content: UnsafeRawBufferPointer, isNewest: Bool) {
        // The datagram is delivered as a whole or not at all: an honest peer never seals another identifier.
        var belongs = true
        let result = DatagramDecoder.decode(content) { _, identifier, _ in
            if identifier != udpIdentifier { belongs = false }
        }
        guard belongs, result == .complete else {
            receiver.counts.messagesMalformed += 1
            return
        }
        _ = DatagramDecoder.decode(content) { id, _, value in
            // A newer datagram was received, which may hold a newer value of this element.
            let element = id == SystemElement.timedValue.rawValue ? TimedValue(wireBytes: value)?.id : id
            if !isNewest, let element, element >= 0, receiver.table.catalogue[id: element]?.latest == true {
                receiver.counts.messagesOutdated += 1
            } else {
                receiveDatagram(id, value)
            }
        }
    }

    /// Counts a datagram that is not authenticated, without beginning a batch of reads: it is no sign of life, and must
    /// not keep the loop awake.
    func countUnproven(_ count: (inout DeviceStatistics) -> Void) {
        device.state.withLock { count(&$0.inbound.statistics) }
    }

    private func resumeReading(at time: NIODeadline) {
        device.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            if let end = receiver.beginSecond() { resumeReading(at: end) } else { resumeReading() }
        }
    }
}

extension Session: ConnectionHandler {
    var plainSocket: StreamSocket? { bytes.plainSocket }

    func flush() {
        wantsFlush = false
        if !isInBatch { wakefulness?.noteSend() }
        sender.flush()
    }

    private func didFlush(_ pending: PendingWork) {
        if awaitsHistoryRoom { takeHistoryTurn() }
        if pending.contains(.stream) { return watchdog.watchProgress() }
        if !isOpen { closeOutput() }
    }

    func batch(_ body: () -> Void) {
        guard !isInBatch else { return body() }
        isInBatch = true
        body()
        endBatch()
        flushIfDue()
    }

    func flushAfterBatch() { wantsFlush = true }

    func resumeReading() {
        guard wantsRead, !device.isPaused, !receiver.isThrottled else { return }
        wantsRead = false
        bytes.read()
    }
}

extension Session: ReceiverOwner {
    /// A value indicates that the peer considers the connection ready: an older client that is slow to send its name,
    /// or a service that has read this client's name but not its hello. A client that gets the elements from the
    /// service cannot use a value before it has them.
    func receiveEarlyValue() {
        if awaitsName {
            receiver.counts.messagesRejected += 1
        } else if device.role == .client || handshake.hasIdentifier && !receiver.table.catalogue.isEmpty {
            becomeReady()
        }
    }

    func noteTaken(_ byteCount: Int) { sender.noteTaken(byteCount) }

    func refuse(_ id: Int8, _ reason: ValueRefusal.Reason) { owner?.session(self, refuses: id, reason) }

    func incompleteByteCountChanged(_ byteCount: Int) -> IncompleteExcess? {
        owner?.session(self, incompleteByteCountChanged: byteCount)
    }
    func discardedIncomplete(_ element: ElementDefinition, byteCount: Int) {
        owner?.session(self, discardedIncomplete: element, byteCount: byteCount)
    }
}

/// Creates a session and is notified of its events, on its event loop: a service, or a client that connects.
protocol SessionOwner: AnyObject {
    /// `nil` at a client.
    var historyTurns: HistoryTurns? { get }
    /// The TCP connection is open; nothing was exchanged yet.
    func sessionOpened(_ session: Session)
    /// Whether a client's name is awaited before its values count and its hello is answered.
    var decidesByName: Bool { get }
    /// Returns a reason to refuse the client, or `nil`.
    func session(_ session: Session, refuses name: String) -> String?
    func session(_ session: Session, received hello: Hello)
    /// Returns the consequence if the incomplete values of the connection, now this many bytes more, hold too many.
    func session(_ session: Session, incompleteByteCountChanged byteCount: Int) -> IncompleteExcess?
    func session(_ session: Session, discardedIncomplete element: ElementDefinition, byteCount: Int)
    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason)
    func sessionIsReady(_ session: Session)
    /// Returns whether a replacement connection will follow.
    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool
    /// The connection has ended. The owner ends the device too, unless a replacement follows.
    func sessionEnded(_ session: Session, _ reason: DisconnectReason)
}
