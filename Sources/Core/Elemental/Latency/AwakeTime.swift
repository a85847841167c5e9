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
    /// The longest period after which a value is awaited: that of a control loop at 100 Hz, or of motion at 60 Hz.
    static let longestAwaitedPeriod = TimeAmount.milliseconds(20)

    private let hold: TimeAmount
    private var last: NIODeadline?
    /// The longest of the latest gaps between values, while they come steadily; otherwise 0.
    private var period = TimeAmount.zero

    init(hold: Duration) { self.hold = TimeAmount(hold) }

    /// Something was received.
    ///
    /// - Returns: when the loop may fall asleep.
    mutating func noteArrival(at now: NIODeadline) -> NIODeadline {
        if let last {
            let gap = now - last
            if gap > Self.longestAwaitedPeriod {
                period = .zero
            } else if gap <= Self.longestPeriod, period > Self.longestPeriod {
                // A fast flow goes on after a stall.
                period = gap
            } else {
                period = max(gap, period - .nanoseconds(period.nanoseconds / 64))
            }
        }
        last = now
        return end(from: now)
    }

    /// When the loop may fall asleep if something is sent, which may be answered.
    func end(from now: NIODeadline) -> NIODeadline {
        period > Self.longestPeriod ? now + hold : now + hold + period + .nanoseconds(period.nanoseconds / 4)
    }

    /// When the loop is awake for the next value, if it may sleep until shortly before that.
    var nextWindow: Window? {
        guard let last, period > Self.longestPeriod else { return nil }
        let margin = TimeAmount.nanoseconds(period.nanoseconds / 8)
        return Window(start: last + period - margin, end: last + period + margin + hold)
    }
}
