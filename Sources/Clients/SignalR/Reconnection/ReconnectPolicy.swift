/// Says when a lost connection is tried again.
public protocol ReconnectPolicy: Sendable {
    /// How long to wait before the next attempt; ``RetryInterval/never`` closes the connection with its original error.
    func nextAttemptInterval(_ context: RetryContext) -> RetryInterval
}

/// How long to wait before an attempt, if there is to be one.
public enum RetryInterval: Sendable, Hashable {
    /// So long; negative durations count as none.
    case after(Duration)
    /// No further attempt.
    case never
}

/// What a policy decides by.
public struct RetryContext: Sendable {
    /// When the connection was lost.
    public let startOfReconnecting: ContinuousClock.Instant
    /// Attempts since then that failed; 0 before the first.
    public let failedAttempts: Int
    /// Why the connection was lost; `nil` if the server ended it in good order.
    public let originalError: SignalRError?

    /// The time since the connection was lost.
    public var elapsed: Duration { startOfReconnecting.duration(to: .now) }

    /// What a policy decides by.
    public init(startOfReconnecting: ContinuousClock.Instant, failedAttempts: Int, originalError: SignalRError?) {
        self.startOfReconnecting = startOfReconnecting
        self.failedAttempts = failedAttempts
        self.originalError = originalError
    }
}

/// Attempts after given intervals, and then no more.
public struct FixedIntervals: ReconnectPolicy, Hashable {
    /// At once, then after 2, 10 and 30 s.
    public static let standard = FixedIntervals([.zero, .seconds(2), .seconds(10), .seconds(30)])

    /// The wait before each attempt.
    public let intervals: [Duration]

    /// Attempts after these intervals.
    public init(_ intervals: [Duration]) { self.intervals = intervals }

    public func nextAttemptInterval(_ context: RetryContext) -> RetryInterval {
        intervals.indices.contains(context.failedAttempts) ? .after(intervals[context.failedAttempts]) : .never
    }
}
