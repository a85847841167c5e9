import Support

/// Delays that grow by a factor up to a maximum. It never gives up.
public struct ExponentialDelays: NumberedDelays {
    let backOff: BackOff

    /// The delay before the first attempt, from zero.
    public var first: Duration { backOff.first }
    /// The factor between successive delays, at least 1.
    public var factor: Double { backOff.factor }
    /// The longest delay.
    public var maximum: Duration { backOff.maximum }
    /// The random part of each delay, 0...1.
    public var jitter: Double { backOff.jitter }

    /// Creates a policy with growing delays. Values out of range are clamped.
    public init(first: Duration, factor: Double, maximum: Duration, jitter: Double) {
        backOff = BackOff(first: first, maximum: maximum, factor: factor, jitter: jitter)
    }

    public func delay(before number: Int) -> Duration? { backOff.delay(before: number) }
}

extension RetryPolicy where Self == ExponentialDelays {
    /// Delays that grow by a factor up to a maximum, indefinitely.
    ///
    /// - Parameters:
    ///   - first: the delay before the first attempt.
    ///   - factor: the factor between successive delays.
    ///   - maximum: the longest delay.
    ///   - jitter: the random part of each delay, 0...1: with 0.2 an attempt is made after between 80 and 100 % of its
    ///     delay, so that many clients do not reconnect at the same moment.
    public static func exponential(
        first: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(60), jitter: Double = 0.2
    ) -> ExponentialDelays {
        ExponentialDelays(first: first, factor: factor, maximum: maximum, jitter: jitter)
    }
}
