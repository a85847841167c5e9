import NIOCore
import NIOPosix

/// Calls an action at fixed times on an event loop. On the loop's thread.
///
/// A loop that does not sleep looks at the clock for it (``TickerQueue``). A timer would interrupt the loop at the very
/// time at which the call is due, and setting it takes longer than the loop needs to look at all its sockets.
final class Ticker {
    static let shortestPeriod = TimeAmount.microseconds(10)

    private let eventLoop: any EventLoop
    private let period: TimeAmount
    /// `nil` once it was stopped.
    private var action: ((NIODeadline) -> Void)?
    /// When the next call is due.
    private(set) var due: NIODeadline

    /// May be called on any thread.
    ///
    /// - Parameters:
    ///   - period: from one call to the next.
    ///   - action: gets the time at which the call was due.
    init(on eventLoop: any EventLoop, every period: Duration, _ action: @escaping (NIODeadline) -> Void) {
        self.eventLoop = eventLoop
        self.period = max(TimeAmount(period), Self.shortestPeriod)
        self.action = action
        due = .distantFuture
    }

    /// Calls the action for the first time, and from now on until it is stopped; not at all if it was.
    func start() {
        due = .now()
        ring(at: due)
    }

    func stop() {
        action = nil
        TickerQueue.current(on: eventLoop).remove(self)
    }

    /// Calls the action, which is due: once, if it was due several times.
    func ring(at now: NIODeadline) {
        guard let action else { return }
        let time = due + periods(since: due, now)
        action(time)
        guard self.action != nil else { return }
        // Always later, also if the action takes longer than a period.
        due = time + periods(since: time, .now()) + period
        TickerQueue.current(on: eventLoop).add(self)
    }

    /// So many whole periods that have passed.
    private func periods(since time: NIODeadline, _ now: NIODeadline) -> TimeAmount {
        let elapsed = (now - time).nanoseconds
        return .nanoseconds(elapsed - elapsed % period.nanoseconds)
    }
}

/// The tickers of an event loop, which has one timer for all of them. On the loop's thread.
///
/// With a timer each, those of several tickers that take too long would follow one another without end: an event loop looks at
/// its sockets only when no timer has run out.
final class TickerQueue {
    /// How long before a call a loop that can do without sleep is woken: the system's timers are late.
    static let lead = TimeAmount.microseconds(150)
    /// The time that the loop has at least for its sockets between calls.
    private static let leastGap = TimeAmount.microseconds(20)
    /// An event loop has a thread of its own. Unchecked: each thread sees its own value only.
    nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<TickerQueue>()

    private let eventLoop: any EventLoop
    private var tickers: [Ticker] = []
    /// When the first call is due.
    private(set) var firstDue = NIODeadline.distantFuture
    private var timer: (time: NIODeadline, task: Scheduled<Void>)?
    private var isRinging = false

    private init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// The one of the calling thread, an event loop's.
    static func current(on eventLoop: any EventLoop) -> TickerQueue {
        if let queue = ofThread.currentValue, queue.eventLoop === eventLoop { return queue }
        let queue = TickerQueue(eventLoop)
        ofThread.currentValue = queue
        return queue
    }

    /// The ticker is called once, when it is due.
    func add(_ ticker: Ticker) {
        tickers.append(ticker)
        firstDue = min(firstDue, ticker.due)
        if !isRinging { setTimer() }
    }

    func remove(_ ticker: Ticker) { tickers.removeAll { $0 === ticker } }

    /// Calls those that are due, each once.
    func ring(at now: NIODeadline) {
        guard now >= firstDue, !isRinging else { return }
        isRinging = true
        // Each is added again, for later.
        while let index = tickers.firstIndex(where: { $0.due <= now }) { tickers.remove(at: index).ring(at: now) }
        isRinging = false
        firstDue = tickers.lazy.map(\.due).min() ?? .distantFuture
    }

    /// Sets the timer for the first call, unless the loop is awake and looks at the clock itself.
    func setTimer() {
        let sleepless = SleeplessLoop.current
        guard !tickers.isEmpty, sleepless?.isAwake != true else { return }
        let now = NIODeadline.now()
        let isWoken = sleepless?.servesLatency == true && firstDue - Self.lead > now
        let time = isWoken ? firstDue - Self.lead : max(firstDue, now + Self.leastGap)
        if let timer {
            // An earlier one sets it anew.
            if timer.time <= time { return }
            timer.task.cancel()
        }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            timer = nil
            let now = NIODeadline.now()
            if now < firstDue, let sleepless = SleeplessLoop.current, sleepless.servesLatency {
                sleepless.stayAwake(until: firstDue, now: now)
            }
            ring(at: now)
            setTimer()
        }
        timer = (time, task)
    }
}
