import NIOCore

/// How long a connection keeps its event loop awake: a while after each value, and from one value to the next where
/// they come steadily. No clock, no threads.
struct AwakeTime {
    /// The longest period that is worth a whole core: a loop that wakes up for each value does with less.
    static let longestPeriod = TimeAmount.milliseconds(5)

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
            period = gap > Self.longestPeriod ? .zero : max(gap, period - .nanoseconds(period.nanoseconds / 64))
        }
        last = now
        return end(from: now)
    }

    /// When the loop may fall asleep if something is sent, which may be answered.
    func end(from now: NIODeadline) -> NIODeadline {
        now + hold + period + .nanoseconds(period.nanoseconds / 4)
    }
}
