import NIOCore

/// When a connection keeps its event loop awake: a while after each value, from one value to the next where they come
/// steadily and fast, and around the time at which the next is due where they come steadily and slower. No clock, no
/// threads.
struct AwakeTime {
    /// A time at which the loop is awake.
    struct Window: Equatable {
        let start: NIODeadline
        let end: NIODeadline
    }

    /// The longest period that is worth a whole core.
    static let longestPeriod = TimeAmount.milliseconds(5)
    /// The longest period after which a value is awaited: somewhat more than that of a flow at 50 Hz.
    static let longestAwaitedPeriod = TimeAmount.milliseconds(25)
    /// So many values that follow one another fast are no mere part of a slower flow.
    private static let fastCount = 8
    /// So many are a flow that goes on after a stall.
    private static let stableCount = 8 * fastCount
    /// How long a fast flow may stall, besides the time to hold. If one end fell asleep whenever the other is held up for a
    /// moment, the system would take its core for idle and move the other one there.
    private static let patience = TimeAmount.nanoseconds(longestPeriod.nanoseconds * 5 / 4)

    private let hold: TimeAmount
    private var last: NIODeadline?
    /// The longest of the latest gaps between values, while they come steadily; otherwise 0.
    private var period = TimeAmount.zero
    /// Gaps in a row that were short, at most ``stableCount``; a quarter of that after a longer one.
    private var shortGapCount = 0

    init(hold: Duration) { self.hold = TimeAmount(hold) }

    /// Something was received.
    ///
    /// - Returns: when the loop may fall asleep.
    mutating func noteArrival(at now: NIODeadline) -> NIODeadline {
        if let last {
            let gap = now - last
            note(gap)
        }
        last = now
        return end(from: now)
    }

    private mutating func note(_ gap: TimeAmount) {
        let isShort = gap <= Self.longestPeriod
        if isShort {
            shortGapCount = min(shortGapCount + 1, Self.stableCount)
        } else if gap > Self.longestAwaitedPeriod {
            (period, shortGapCount) = (.zero, 0)
            return
        } else {
            shortGapCount /= 4
        }
        if isFast {
            // A stall does not change the period.
            if isShort { period = period > Self.longestPeriod ? gap : max(gap, slightlyLess(period)) }
        } else if period <= Self.longestPeriod || !isShort {
            period = max(gap, slightlyLess(period))
        }
    }

    private func slightlyLess(_ period: TimeAmount) -> TimeAmount { period - .nanoseconds(period.nanoseconds / 64) }

    /// When the loop may fall asleep if something is sent, which may be answered.
    func end(from now: NIODeadline) -> NIODeadline {
        // A flow that has ended, while this end goes on sending.
        guard let last, now - last <= Self.longestAwaitedPeriod else { return now + hold }
        if isFast { return now + hold + Self.patience }
        return period > Self.longestPeriod ? now + hold : now + hold + period + .nanoseconds(period.nanoseconds / 4)
    }

    private var isFast: Bool { shortGapCount >= Self.fastCount }

    /// When the loop is awake for the next value, if it may sleep until shortly before that.
    var nextWindow: Window? {
        guard let last, period > Self.longestPeriod else { return nil }
        let margin = TimeAmount.nanoseconds(period.nanoseconds / 8)
        return Window(start: last + period - margin, end: last + period + margin + hold)
    }
}
