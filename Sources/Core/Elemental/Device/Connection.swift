import ElementalWire
import NIOCore
import Support
import Synchronization

/// A connection as its device sees it on the event loop.
protocol ConnectionHandler: AnyObject {
    /// Whether a batch is in progress, at whose end everything queued is written.
    var isInBatch: Bool { get }
    func flushAfterBatch()
    func flush()
    /// Runs what may send values, and then writes them.
    func batch(_ body: () -> Void)
    func refuse(_ id: Int8, _ reason: ValueRefusal.Reason)
    func resumeReading()
    /// `nil` if what is written does not go to the socket unchanged.
    var plainSocket: StreamSocket? { get }
    /// Closes the connection gracefully.
    func close()
}

/// A device's reference to its connection, usable from any thread.
final class Connection: Sendable {
    let channel: any Channel
    /// On the event loop.
    let handler: NIOLoopBound<any ConnectionHandler>
    // Made once, so that scheduling a flush allocates nothing.
    private let flush: @Sendable () -> Void
    /// Written to by threads that answer what was received over TCP.
    private let direct = DirectSocket()
    /// The same for datagrams that are sent as they are; `nil` while there are none.
    private let datagrams = AtomicLazyReference<DatagramSink>()
    /// Something was received since another thread last wrote directly: what that thread sends now is likely the
    /// answer, which is worth a system call of its own. Values sent unasked are better batched by the loop.
    private let mayAnswer = Atomic(false)

    init(channel: any Channel, handler: any ConnectionHandler) {
        self.channel = channel
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.handler = bound
        flush = { bound.value.flush() }
    }

    /// Schedules a flush: at the end of the batch in progress on this loop, or else in the loop's next tick.
    func wake() {
        if channel.eventLoop.inEventLoop, handler.value.isInBatch { return handler.value.flushAfterBatch() }
        channel.eventLoop.execute(flush)
    }

    func resumeReading() {
        channel.eventLoop.execute { [handler] in handler.value.resumeReading() }
    }

    func close() { channel.eventLoop.execute { [handler] in handler.value.close() } }
}

/// Writing on another thread than the event loop's.
extension Connection {
    func noteRead() { mayAnswer.store(true, ordering: .relaxed) }

    /// Datagrams may be sent there, by any thread. A second socket, which a client opens when the system has closed the
    /// first, is left to the event loop.
    func use(_ datagrams: DatagramSink) { _ = self.datagrams.storeIfNil(datagrams) }

    func end() { direct.close() }

    /// Whether the calling thread should write what it has queued itself. It uses up the permission to answer.
    func takesAnswer(over transport: Transport) -> Bool {
        guard mayAnswer.load(ordering: .relaxed), !channel.eventLoop.inEventLoop else { return false }
        mayAnswer.store(false, ordering: .relaxed)
        return switch transport {
        case .tcp:
            direct.isOpen {
                channel.eventLoop.execute { [self] in direct.open(handler.value.plainSocket?.descriptor) }
            }
        case .udp: datagrams.load()?.socket.isOpenForThreads() ?? false
        }
    }

    /// - Returns: how many bytes the socket accepted.
    func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        direct.withDescriptor { StreamSocket(descriptor: $0).write(first, second, more: false) } ?? 0
    }

    func write(datagram: UnsafeRawBufferPointer) -> DatagramSocket.Outcome {
        datagrams.load().map { $0.socket.writeDirectly(datagram, to: $0.remote) } ?? .full
    }
}
