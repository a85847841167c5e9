import ElementalWire
import NIOCore
import Support
import Synchronization

/// A connection as its device sees it on the event loop.
protocol ConnectionHandler: AnyObject {
    /// Whether a batch is in progress, of reads or of what is done on time, at whose end everything queued is written.
    var isInBatch: Bool { get }
    /// Writes what is queued.
    func flush()
    /// Runs what may send values, and then writes them.
    func batch(_ body: () -> Void)
    /// Notifies a client that a value of the element was refused.
    func refuse(_ id: Int8, _ reason: ValueRefusal.Reason)
    /// Resumes reading after a pause.
    func resumeReading()
    /// The connection's socket; `nil` if what is written does not go to it unchanged.
    var plainSocket: StreamSocket? { get }
    /// Closes the connection gracefully.
    ///
    /// - Parameter shutdownText: the text that a service sends its client before it closes.
    func close(_ reason: DisconnectReason, shutdownText: String?)
}

/// A device's reference to its connection, usable from any thread.
final class Connection: Sendable {
    let channel: any Channel
    private let handler: NIOLoopBound<any ConnectionHandler>
    // Made once, so that scheduling a flush allocates nothing.
    private let flush: @Sendable () -> Void
    /// Written to by threads that answer what was received over TCP.
    private let direct = DirectSocket()
    /// The same for datagrams that are sent as they are; `nil` while there are none.
    private let datagrams = AtomicLazyReference<DatagramSink>()
    /// Whether something was received since another thread last wrote directly: what that thread sends now is likely
    /// the answer, which is worth a system call of its own. Values sent unasked are better batched by the loop.
    private let mayAnswer = Atomic(false)

    /// Must be called on the event loop.
    init(channel: any Channel, handler: any ConnectionHandler) {
        self.channel = channel
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.handler = bound
        flush = { bound.value.flush() }
    }

    /// Schedules a flush: at the end of the batch in progress on this loop, or else in the loop's next tick.
    func wake() {
        if channel.eventLoop.inEventLoop, handler.value.isInBatch { return }
        channel.eventLoop.execute(flush)
    }

    /// Runs what may send values, and then writes them in the same tick. On the event loop.
    func batch(_ body: () -> Void) { handler.value.batch(body) }

    /// Notifies a client that its value of the element was refused. On the event loop.
    func refuse(_ id: Int8) { handler.value.refuse(id, .refused) }

    /// Resumes reading after a pause.
    func resumeReading() {
        channel.eventLoop.execute { [handler] in handler.value.resumeReading() }
    }

    /// Closes the connection gracefully.
    func close(_ reason: DisconnectReason, shutdownText: String?) {
        channel.eventLoop.execute { [handler] in handler.value.close(reason, shutdownText: shutdownText) }
    }
}

/// Writing on another thread than the event loop's.
extension Connection {
    /// A read batch begins. On the event loop.
    func noteRead() {
        if direct.isWanted { direct.open(handler.value.plainSocket?.descriptor) }
        mayAnswer.store(true, ordering: .relaxed)
    }

    /// Datagrams may be sent there, by any thread. A second socket, which a client opens when the system has closed the
    /// first, is left to the event loop.
    func use(_ datagrams: DatagramSink) { _ = self.datagrams.storeIfNil(datagrams) }

    /// The connection has ended. On the event loop.
    func end() { direct.close() }

    /// Whether the calling thread should write what it has queued itself. It uses up the permission to answer.
    func takesAnswer(over transport: Transport) -> Bool {
        guard mayAnswer.load(ordering: .relaxed), !channel.eventLoop.inEventLoop else { return false }
        mayAnswer.store(false, ordering: .relaxed)
        return switch transport {
        case .tcp: direct.isOpenOrWanted()
        case .udp: datagrams.load()?.socket.isOpenForThreads() ?? false
        }
    }

    /// Writes as much of a segment as the socket accepts.
    func write(_ segment: inout OutboundSegment) {
        _ = segment.write { first, second in
            direct.withDescriptor { StreamSocket(descriptor: $0).write(first, second, more: false) } ?? 0
        }
    }

    /// Sends a datagram.
    func write(datagram: ByteBuffer) -> DatagramSocket.Outcome { datagrams.load()?.writeDirectly(datagram) ?? .full }
}

/// A channel's socket for other threads than the event loop's.
///
/// It has a descriptor of its own, a duplicate of the channel's: the channel may close its descriptor at any moment,
/// after which the system may give the number to another socket. The duplicate is only made when a thread first asks
/// for it. While it is open, so is the socket: close it before the channel is closed, or as soon as it is.
struct DirectSocket: ~Copyable, Sendable {
    /// No thread has asked for it: the initial state.
    private static let unwanted: UInt32 = 0
    /// A thread has asked for it.
    private static let wanted: UInt32 = 1 << 31
    /// Open; the lower bits count the threads that use it.
    private static let open: UInt32 = 1 << 30
    /// There is no socket, or nobody may begin to use it. The last thread that still uses it closes the descriptor.
    private static let closed: UInt32 = 1 << 29

    private let state = Atomic(Self.unwanted)
    private let descriptor = Atomic<CInt>(-1)

    /// Whether a thread has asked for it, and it was neither opened nor closed since.
    var isWanted: Bool { state.load(ordering: .relaxed) == Self.wanted }

    /// Whether it can be used. If it was never opened, the owner is asked to open it.
    func isOpenOrWanted() -> Bool {
        let current = state.load(ordering: .relaxed)
        if current & Self.open != 0 { return true }
        if current == Self.unwanted { _ = exchange(Self.unwanted, Self.wanted) }
        return false
    }

    /// Opens it: unless the descriptor cannot be duplicated, or only by using one of those that connections leave free.
    ///
    /// - Parameter original: the channel's descriptor; `nil` if the channel is closed or no socket.
    func open(_ original: CInt?) {
        let duplicate = original.map { fcntl($0, F_DUPFD_CLOEXEC, 0) } ?? -1
        let isUsable = duplicate >= 0 && !DescriptorLimit.isReserved(duplicate)
        if isUsable { descriptor.store(duplicate, ordering: .relaxed) }
        if exchange(Self.wanted, isUsable ? Self.open : Self.closed), isUsable { return }
        if duplicate >= 0 { _ = Self.close(duplicate) }
    }

    /// Passes its descriptor to `body`, which must not block and must not keep it.
    ///
    /// - Returns: `nil` if it is not open.
    func withDescriptor<Result>(_ body: (CInt) -> Result) -> Result? {
        var current = state.load(ordering: .relaxed)
        while true {
            guard current & Self.open != 0 else { return nil }
            let (isExchanged, original) = state.weakCompareExchange(
                expected: current, desired: current + 1, ordering: .acquiringAndReleasing)
            if isExchanged { break }
            current = original
        }
        let descriptor = descriptor.load(ordering: .relaxed)
        defer {
            if state.subtract(1, ordering: .acquiringAndReleasing).newValue == Self.closed {
                _ = Self.close(descriptor)
            }
        }
        return body(descriptor)
    }

    /// Closes it, or has the last of the threads that use it close it.
    func close() {
        var current = state.load(ordering: .relaxed)
        while current & Self.closed == 0 {
            let (isExchanged, original) = state.weakCompareExchange(
                expected: current, desired: current & ~(Self.open | Self.wanted) | Self.closed,
                ordering: .acquiringAndReleasing)
            if isExchanged {
                if current == Self.open { _ = Self.close(descriptor.load(ordering: .relaxed)) }
                return
            }
            current = original
        }
    }

    private func exchange(_ expected: UInt32, _ desired: UInt32) -> Bool {
        state.compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing).exchanged
    }

    private static let close: @Sendable (CInt) -> CInt = Support.close
}
