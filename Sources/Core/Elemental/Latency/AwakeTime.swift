import NIOCore

/// Decides when a connection keeps its event loop awake: after each value, and around those of a steady flow.
struct AwakeTime {
    /// The longest period that is worth a whole core.
    static let longestPeriod = TimeAmount.milliseconds(5)
    /// Somewhat more than the period of a flow at 50 Hz.
    static let longestAwaitedPeriod = TimeAmount.milliseconds(25)
    /// This many short gaps in a row mark a fast flow.
    private static let fastCount = 8
    /// This many mark a flow that survives a stall.
    private static let stableCount = 8 * fastCount
    /// How long a fast flow may stall, in addition to the hold time. If one end slept whenever the other is held up,
    /// the system would consider its core idle and move the other end there.
    private static let patience = TimeAmount.nanoseconds(longestPeriod.nanoseconds * 5 / 4)

    private let hold: TimeAmount
    private var last: NIODeadline?
    /// The longest recent gap of a steady flow; otherwise 0.
    private var period = TimeAmount.zero
    /// Short gaps in a row, at most ``stableCount``; a longer gap quarters it.
    private var shortGapCount = 0

    init(hold: Duration) { self.hold = TimeAmount(hold) }

    mutating func noteArrival(at now: NIODeadline) -> NIODeadline {
        if let last { note(now - last) }
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
            if isShort { period = period > Self.longestPeriod ? gap : max(gap, slightlyLess(period)) }
        } else if period <= Self.longestPeriod || !isShort {
            period = max(gap, slightlyLess(period))
        }
    }

    private func slightlyLess(_ period: TimeAmount) -> TimeAmount { period - .nanoseconds(period.nanoseconds / 64) }

    /// When the loop may fall asleep after a send, which may be answered.
    func end(from now: NIODeadline) -> NIODeadline {
        // The peer's flow has ended.
        guard let last, now - last <= Self.longestAwaitedPeriod else { return now + hold }
        if isFast { return now + hold + Self.patience }
        return period > Self.longestPeriod ? now + hold : now + hold + period + .nanoseconds(period.nanoseconds / 4)
    }

    private var isFast: Bool { shortGapCount >= Self.fastCount }

    /// When the next value of a steady flow with a long period is expected; `nil` if none is.
    var nextWindow: Range<NIODeadline>? {
        guard let last, period > Self.longestPeriod else { return nil }
        let margin = TimeAmount.nanoseconds(period.nanoseconds / 8)
        return last + period - margin..<last + period + margin + hold
    }
}
