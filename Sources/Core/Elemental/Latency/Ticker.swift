import NIOCore
import NIOPosix

/// Calls an action at a fixed rate on an event loop. On the loop's thread.
///
/// A sleepless loop checks the clock itself (``TickerQueue``): a timer would interrupt it when the call is due, and
/// setting one takes longer than polling all sockets.
final class Ticker {
    static let shortestPeriod = TimeAmount.microseconds(10)

    private let eventLoop: any EventLoop
    private let period: TimeAmount
    private var action: ((NIODeadline) -> Void)?
    private(set) var due: NIODeadline

    init(on eventLoop: any EventLoop, every period: Duration, _ action: @escaping (NIODeadline) -> Void) {
        self.eventLoop = eventLoop
        self.period = max(TimeAmount(period), Self.shortestPeriod)
        self.action = action
        due = .distantFuture
    }

    /// Makes the first call, unless the ticker was stopped.
    func start() {
        due = .now()
        ring(at: due)
    }

    func stop() {
        action = nil
        TickerQueue.current(on: eventLoop).remove(self)
    }

    /// Makes the due call: one, even if several periods have passed.
    func ring(at now: NIODeadline) {
        guard let action else { return }
        let time = due + periods(since: due, now)
        action(time)
        guard self.action != nil else { return }
        // Always in the future, even if the action takes longer than a period.
        due = time + periods(since: time, .now()) + period
        TickerQueue.current(on: eventLoop).add(self)
    }

    private func periods(since time: NIODeadline, _ now: NIODeadline) -> TimeAmount {
        let elapsed = (now - time).nanoseconds
        return .nanoseconds(elapsed - elapsed % period.nanoseconds)
    }
}

/// The tickers of an event loop, which share one timer. On the loop's thread.
///
/// Separate timers of several slow tickers would follow one another without end: an event loop polls its sockets only
/// when no timer is due.
final class TickerQueue {
    /// How long before a call a sleepless loop is woken: the system's timers are late.
    static let lead = TimeAmount.microseconds(150)
    /// The time that the loop gets for its sockets now and then when calls are always late. A slow machine needs more
    /// than ``leastGap`` from one timer to the next, and would otherwise never poll them.
    private static let longGap = TimeAmount.milliseconds(1)
    /// Unchecked: each thread sees its own value only.
    nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<TickerQueue>()

    private let eventLoop: any EventLoop
    private var tickers: [Ticker] = []
    private(set) var firstDue = NIODeadline.distantFuture
    private var timer: (time: NIODeadline, task: Scheduled<Void>)?
    private var isRinging = false
    /// The minimum time that the loop has for its sockets between calls. Only tests change it.
    var leastGap = TimeAmount.microseconds(20)
    /// The number of timers in a row that left only ``leastGap``.
    private var shortGapCount = 0

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    static func current(on eventLoop: any EventLoop) -> TickerQueue {
        if let queue = ofThread.currentValue, queue.eventLoop === eventLoop { return queue }
        let queue = TickerQueue(eventLoop)
        ofThread.currentValue = queue
        return queue
    }

    func add(_ ticker: Ticker) {
        tickers.append(ticker)
        firstDue = min(firstDue, ticker.due)
        if !isRinging { setTimer() }
    }

    func remove(_ ticker: Ticker) { tickers.removeAll { $0 === ticker } }

    func ring(at now: NIODeadline) {
        guard now >= firstDue, !isRinging else { return }
        isRinging = true
        // Each is added again for its next call.
        while let index = tickers.firstIndex(where: { $0.due <= now }) { tickers.remove(at: index).ring(at: now) }
        isRinging = false
        firstDue = tickers.lazy.map(\.due).min() ?? .distantFuture
    }

    /// Sets the timer for the first call, unless the loop is awake and checks the clock itself.
    func setTimer() {
        let sleepless = SleeplessLoop.current
        guard !tickers.isEmpty, sleepless?.isAwake != true else { return }
        let now = NIODeadline.now()
        let isWoken = sleepless != nil && firstDue - Self.lead > now
        // More timers in a row than tickers that are due at about the same time would cause.
        let isOverloaded = shortGapCount > 2 * tickers.count
        let time = isWoken ? firstDue - Self.lead : max(firstDue, now + (isOverloaded ? Self.longGap : leastGap))
        if let timer {
            if timer.time <= time { return }
            timer.task.cancel()
        }
        shortGapCount = firstDue > now + leastGap || isOverloaded ? 0 : shortGapCount + 1
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            timer = nil
            let now = NIODeadline.now()
            if now < firstDue, let sleepless = SleeplessLoop.current {
                sleepless.stayAwake(until: firstDue, now: now)
            }
            ring(at: now)
            setTimer()
        }
        timer = (time, task)
    }
}
