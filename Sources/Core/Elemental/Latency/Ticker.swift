import NIOCore

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
