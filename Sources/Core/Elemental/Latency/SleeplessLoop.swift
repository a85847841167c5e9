import CScheduling
import NIOCore
import NIOPosix
import Support

/// Keeps an event loop from sleeping while one of its connections wants that.
///
/// A pipe that always has a byte to read makes the loop look at its sockets again at once, after it has served all that
/// are ready and run all tasks that are due: nothing starves, whatever else the loop does. On the loop's thread.
final class SleeplessLoop: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// What a connection wants it for.
    enum Purpose {
        /// Single values arrive as early as possible, also where that takes another core.
        case latency
        /// No time is lost between the parts of a fast flow.
        case throughput
    }

    /// Bytes in the full pipe. One is read in each turn of the loop.
    private static let byteCount = 4096
    /// Turns between two looks at how much processor time the thread gets, unless a turn takes so long that it has waited.
    private static let lookDistance = 128
    private static let longTurn = TimeAmount.milliseconds(1)
    /// An event loop has a thread of its own. Unchecked: each thread sees its own value only.
    nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<SleeplessLoop>()

    private let eventLoop: any EventLoop
    /// Connections that may keep it awake.
    private var userCount = 0
    /// Those of them that want the lowest latency.
    private var latencyUserCount = 0
    /// Whether one of its connections wants the lowest latency. Otherwise it is only awake while a fast flow lasts.
    var servesLatency: Bool { latencyUserCount > 0 }
    private var channel: (any Channel)?
    private var isOpening = false
    /// The pipe's other end.
    private var input: CInt = -1
    private var unreadCount = 0
    /// When it may fall asleep.
    private var end = NIODeadline.uptimeNanoseconds(0)
    /// Whether a read is pending, so that the loop does not sleep.
    private(set) var isAwake = false
    /// Turns of the loop since there is a pipe in which it did not sleep.
    private(set) var turnCount = 0
    /// `nil` if it does not matter who else wants the core, which is so in tests only.
    var share: CoreShare? = CoreShare(coreCount: System.coreCount)
    /// The same where only fast flows keep it awake.
    private var flowShare = CoreShare.ofFlow
    /// When the thread's share of its core was last looked at: the time, and its processor time.
    private var looked = (time: NIODeadline.uptimeNanoseconds(0), used: TimeAmount.zero)
    /// When the latest turn ended.
    private var turned = NIODeadline.distantFuture
    /// It sleeps as usual until then.
    private var restEnd = NIODeadline.uptimeNanoseconds(0)
    /// What it calls on time, while it is awake.
    private let tickers: TickerQueue

    private init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        tickers = TickerQueue.current(on: eventLoop)
    }

    /// The one of the calling thread, an event loop's, for one more connection; ``release(from:)`` gives it back. `nil` where
    /// there is only one core, or no such pipe.
    static func retain(on eventLoop: any EventLoop, for purpose: Purpose) -> SleeplessLoop? {
        guard System.coreCount > 1, NIOPipeBootstrap(validatingGroup: eventLoop) != nil else { return nil }
        let loop = ofThread.currentValue ?? SleeplessLoop(eventLoop)
        ofThread.currentValue = loop
        loop.userCount += 1
        if purpose == .latency {
            // Whether a fast flow has found its core shared is nothing to it.
            if !loop.servesLatency { loop.rest(until: .uptimeNanoseconds(0)) }
            loop.latencyUserCount += 1
        }
        if loop.userCount == 1 { loop.open() }
        return loop
    }

    /// The one of the calling thread; `nil` if none of its connections wants one.
    static var current: SleeplessLoop? {
        guard let loop = ofThread.currentValue, loop.userCount > 0 else { return nil }
        return loop
    }

    /// The last connection closes the pipe.
    func release(from purpose: Purpose) {
        userCount -= 1
        if purpose == .latency { latencyUserCount -= 1 }
        guard userCount == 0 else { return }
        channel?.close(promise: nil)
        channel = nil
        fallAsleep()
    }

    /// Does not let the loop sleep before that time.
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

    // MARK: The pipe

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
        // It would be woken again at once for a call that is due soon.
        let isCallDue = servesLatency && tickers.firstDue - TickerQueue.lead <= now
        guard isAwake, now < end || isCallDue, now >= restEnd else {
            // A fast flow keeps it awake for too short a time to be looked at otherwise.
            if isAwake, !servesLatency { look(at: now) }
            return fallAsleep()
        }
        turned = now
        // The system takes who sends for about to sleep, and has the receiver wait for its core.
        sched_yield()
        if !servesLatency, isCoreWanted(since: now) { return fallAsleep() }
        context.read()
    }

    /// The pipe was closed, by the last connection or with the event loop.
    func channelInactive(context: ChannelHandlerContext) {
        // There may be another one by now.
        guard context.channel === channel else { return }
        channel = nil
        fallAsleep()
    }

    /// Looks at how much of its core the thread gets.
    private func look(at now: NIODeadline) {
        let used = Self.usedTime
        let advice = note(elapsed: now - looked.time, used: used - looked.used)
        looked = (now, used)
        switch advice {
        case .stay: break
        case .move: _ = cscheduling_leave_core()
        case .rest(let time): rest(until: now + time)
        }
    }

    /// Whether others have had the core, which was yielded at that time, too often for a fast flow to stay awake.
    private func isCoreWanted(since yield: NIODeadline) -> Bool {
        let now = NIODeadline.now()
        guard case .rest(let time) = flowShare.noteYield(now - yield, at: now) else { return false }
        rest(until: now + time)
        return true
    }

    private func note(elapsed: TimeAmount, used: TimeAmount) -> CoreShare.Advice {
        guard servesLatency else { return flowShare.note(elapsed: elapsed, used: used) }
        return share?.note(elapsed: elapsed, used: used) ?? .stay
    }

    /// Sleeps as usual until then, or until another connection wants the lowest latency.
    func rest(until end: NIODeadline) { restEnd = end }

    /// The processor time that this thread has used.
    private static var usedTime: TimeAmount {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
