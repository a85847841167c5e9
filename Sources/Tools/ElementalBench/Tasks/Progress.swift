/// Tells whether a count that should grow has come to a stop.
struct Progress: Sendable {
    private let patience: UInt64
    private var count = 0
    private var since = MonotonicClock.nanoseconds

    /// - Parameter patience: how long the count may stay as it is.
    init(patience: Duration) { self.patience = patience.nanoseconds }

    /// Takes in how far the count is now.
    ///
    /// - Returns: whether it has stayed there for too long.
    mutating func hasStopped(at count: Int) -> Bool {
        let now = MonotonicClock.nanoseconds
        if count > self.count {
            self.count = count
            since = now
        }
        return now - since >= patience
    }
}
