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
    /// Runs `body`, and then writes the values that it sent.
    func batch(_ body: () -> Void)
    func refuse(_ id: Int8, _ reason: ValueRefusal.Reason)
    func resumeReading()
    /// `nil` if written bytes do not reach the socket unchanged, as on an encrypted connection.
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
    /// For threads that answer values received over TCP.
    private let direct = DirectSocket()
    /// The same for datagrams, which must be unencrypted; `nil` while there is no socket.
    private let datagrams = AtomicLazyReference<DatagramSink>()
    /// Whether something was received since another thread last wrote directly. The next value that such a thread sends
    /// is likely an answer, which is worth a system call of its own. Other values are better batched by the event loop.
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

    /// Lets any thread send datagrams to this sink. A second socket, which a client opens when the system has closed
    /// the first, is left to the event loop.
    func use(_ datagrams: DatagramSink) { _ = self.datagrams.storeIfNil(datagrams) }

    func end() { direct.close() }

    /// Whether the calling thread should itself write what it has queued. Resets ``mayAnswer``.
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
