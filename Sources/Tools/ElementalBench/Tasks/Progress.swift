/// Detects that a count which should grow has stopped growing.
struct Progress: Sendable {
    private let patience: Duration
    private var count = 0
    private var since = ContinuousClock.now

    /// - Parameter patience: how long the count may stay unchanged.
    init(patience: Duration) { self.patience = patience }

    /// Records the current count.
    ///
    /// - Returns: whether it has been unchanged for too long.
    mutating func hasStopped(at count: Int) -> Bool {
        let now = ContinuousClock.now
        if count > self.count {
            self.count = count
            since = now
        }
        return now - since >= patience
    }
}
