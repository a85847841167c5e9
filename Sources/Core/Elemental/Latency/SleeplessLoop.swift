import CLinux
import NIOCore
import NIOPosix
import Support

/// Keeps an event loop from sleeping while one of its connections needs that. On the loop's thread.
///
/// A pipe that always has a byte to read makes the loop poll its sockets again at once.
final class SleeplessLoop: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Bytes in the full pipe. Each turn of the loop reads one.
    private static let byteCount = 4096
    /// Turns between two checks of the thread's processor time, unless a turn takes longer than ``longTurn``.
    private static let lookDistance = 128
    private static let longTurn = TimeAmount.milliseconds(1)
    /// Unchecked: each thread sees its own value only.
    nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<SleeplessLoop>()

    private let eventLoop: any EventLoop
    private var userCount = 0
    private var channel: (any Channel)?
    private var isOpening = false
    private var input: CInt = -1
    private var unreadCount = 0
    private var end = NIODeadline.uptimeNanoseconds(0)
    private(set) var isAwake = false
    private(set) var turnCount = 0
    /// `nil` to ignore other threads, in tests only.
    var share: CoreShare? = CoreShare(coreCount: System.coreCount)
    /// The last check: the time, and the thread's processor time.
    private var looked = (time: NIODeadline.uptimeNanoseconds(0), used: TimeAmount.zero)
    private var turned = NIODeadline.distantFuture
    /// The loop sleeps as usual until then.
    private var restEnd = NIODeadline.uptimeNanoseconds(0)
    /// Called on time while the loop is awake.
    private let tickers: TickerQueue

    private init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        tickers = TickerQueue.current(on: eventLoop)
    }

    /// Returns the loop's instance, which ``release()`` gives back; `nil` on a single core, and for loops without
    /// pipes.
    static func retain(on eventLoop: any EventLoop) -> SleeplessLoop? {
        guard System.coreCount > 1, NIOPipeBootstrap(validatingGroup: eventLoop) != nil else { return nil }
        let loop = ofThread.currentValue ?? SleeplessLoop(eventLoop)
        ofThread.currentValue = loop
        loop.userCount += 1
        if loop.userCount == 1 { loop.open() }
        return loop
    }

    /// The instance of the calling event loop; `nil` if it has no user.
    static var current: SleeplessLoop? {
        guard let loop = ofThread.currentValue, loop.userCount > 0 else { return nil }
        return loop
    }

    func release() {
        userCount -= 1
        guard userCount == 0 else { return }
        channel?.close(promise: nil)
        channel = nil
        fallAsleep()
    }

    func stayAwake(until end: NIODeadline, now: NIODeadline) {
        self.end = max(self.end, end)
        guard !isAwake, let channel, now >= restEnd else { return }
        isAwake = true
        looked = (now, Self.usedTime)
        turned = now
        channel.read()
    }

    private func fallAsleep() {
        isAwake = false
        tickers.setTimer()
    }

    private func open() {
        guard !isOpening, let bootstrap = NIOPipeBootstrap(validatingGroup: eventLoop), let pipe = Self.makePipe()
        else {
            return
        }
        isOpening = true
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        bootstrap
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 1))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
            }
            .takingOwnershipOfDescriptor(input: pipe.output)
            .assumeIsolated()
            .whenComplete { [self] result in
                isOpening = false
                guard case .success(let channel) = result else {
                    // The bootstrap owns its descriptor only if it succeeds.
                    _ = Support.close(pipe.output)
                    _ = Support.close(pipe.input)
                    return
                }
                channel.closeFuture.whenComplete { _ in _ = Support.close(pipe.input) }
                guard userCount > 0 else { return channel.close(promise: nil) }
                input = pipe.input
                unreadCount = 0
                refill()
                self.channel = channel
            }
    }

    private static func makePipe() -> (output: CInt, input: CInt)? {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }

    private func refill() {
        let bytes = [UInt8](repeating: 0, count: Self.byteCount - unreadCount)
        unreadCount += max(0, write(input, bytes, bytes.count))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { unreadCount -= 1 }

    func channelReadComplete(context: ChannelHandlerContext) {
        if unreadCount == 0 { refill() }
        let now = NIODeadline.now()
        turnCount &+= 1
        if turnCount.isMultiple(of: Self.lookDistance) || now > turned + Self.longTurn { look(at: now) }
        tickers.ring(at: now)
        // A call is due so soon that sleeping is not worth it.
        let isCallDue = tickers.firstDue - TickerQueue.lead <= now
        guard isAwake, now < end || isCallDue, now >= restEnd else { return fallAsleep() }
        turned = now
        // The scheduler assumes that a sending thread is about to sleep, and lets the receiver wait for its core.
        sched_yield()
        context.read()
    }

    /// The pipe was closed, by the last user or with the event loop.
    func channelInactive(context: ChannelHandlerContext) {
        guard context.channel === channel else { return }
        channel = nil
        fallAsleep()
    }

    private func look(at now: NIODeadline) {
        let used = Self.usedTime
        let advice = share?.note(elapsed: now - looked.time, used: used - looked.used) ?? .stay
        looked = (now, used)
        switch advice {
        case .stay: break
        case .move: _ = clinux_leave_core()
        case .rest(let time): restEnd = now + time
        }
    }

    private static var usedTime: TimeAmount {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
