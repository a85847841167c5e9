import NIOCore

/// Calls an action at fixed times on an event loop. On the loop's thread.
///
/// A loop that does not sleep looks at the clock for it (``SleeplessLoop``). A timer would interrupt the loop at the very
/// time at which the call is due, and setting it takes longer than the loop needs to look at all its sockets.
final class Ticker {
    static let shortestPeriod = TimeAmount.microseconds(10)
    /// How long before a call a loop that can do without sleep is woken: the system's timers are late.
    private static let lead = TimeAmount.microseconds(150)

    private let eventLoop: any EventLoop
    private let period: TimeAmount
    /// `nil` once it was stopped.
    private var action: ((NIODeadline) -> Void)?
    /// When the next call is due.
    private(set) var due: NIODeadline
    private var timer: Scheduled<Void>?
    /// The loop that looks at the clock for it.
    private var watch: SleeplessLoop?

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
        timer?.cancel()
        timer = nil
        watch?.remove(self)
        watch = nil
    }

    /// Calls the action if it is due: once, if it was due several times.
    func ring(at now: NIODeadline) {
        (timer, watch) = (nil, nil)
        guard let action else { return }
        guard now >= due else { return wait(from: now) }
        let time = due + periods(since: due, now)
        action(time)
        guard self.action != nil else { return }
        // Always later: an action that takes longer than a period would otherwise keep the loop from its sockets.
        let end = NIODeadline.now()
        due = time + periods(since: time, end) + period
        wait(from: end)
    }

    /// So many whole periods that have passed.
    private func periods(since time: NIODeadline, _ now: NIODeadline) -> TimeAmount {
        let elapsed = (now - time).nanoseconds
        return .nanoseconds(elapsed - elapsed % period.nanoseconds)
    }

    /// The loop falls asleep.
    func setTimer(from now: NIODeadline) {
        watch = nil
        wait(from: now)
    }

    private func wait(from now: NIODeadline) {
        let sleepless = SleeplessLoop.current
        if let sleepless, sleepless.watch(self) {
            watch = sleepless
            return
        }
        let start = due - Self.lead
        let isWoken = sleepless != nil && start > now
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: isWoken ? start : due) { [self] in
            let now = NIODeadline.now()
            if now < due { SleeplessLoop.current?.stayAwake(until: due + Self.shortestPeriod, now: now) }
            ring(at: now)
        }
    }
}
