/// Attempts for ever, after intervals that double up to a longest one.
public struct GrowingIntervals: ReconnectPolicy, Hashable {
    /// The wait before the first attempt, from zero.
    public let first: Duration
    /// The longest wait.
    public let maximum: Duration

    /// Attempts after intervals that double. Durations below zero count as zero.
    public init(first: Duration = .seconds(1), maximum: Duration = .seconds(30)) {
        self.first = max(first, .zero)
        self.maximum = max(maximum, .zero)
    }

    public func nextAttemptInterval(_ context: RetryContext) -> RetryInterval {
        .after(interval(context.failedAttempts))
    }

    /// The wait after so many attempts that failed.
    public func interval(_ failedAttempts: Int) -> Duration {
        var interval = first
        for _ in 0..<max(failedAttempts, 0) where interval > .zero && interval < maximum { interval *= 2 }
        return min(interval, maximum)
    }
}
