import Support

/// Delays that grow by a factor up to a maximum. It never gives up.
public struct ExponentialDelays: ReconnectionPolicy, Hashable {
    let backOff: BackOff

    /// The delay before the first attempt, from zero.
    public var first: Duration { backOff.first }
    /// How many times as long each delay is as the one before, from 1.
    public var factor: Double { backOff.factor }
    /// The longest delay.
    public var maximum: Duration { backOff.maximum }
    /// The part of each delay that is left to chance, 0...1.
    public var jitter: Double { backOff.jitter }

    /// A policy with growing delays. Numbers outside their range count as the nearest within.
    public init(first: Duration, factor: Double, maximum: Duration, jitter: Double) {
        backOff = BackOff(first: first, maximum: maximum, factor: factor, jitter: jitter)
    }

    public func delay(before attempt: ReconnectionAttempt) -> Duration? { backOff.delay(before: attempt.number) }
}

extension ReconnectionPolicy where Self == ExponentialDelays {
    /// Delays that grow by a factor up to a maximum, for ever.
    ///
    /// - Parameters:
    ///   - first: the delay before the first attempt.
    ///   - factor: how many times as long each delay is as the one before.
    ///   - maximum: the longest delay.
    ///   - jitter: the part of each delay that is left to chance, 0...1: with 0.2 an attempt comes when between 80 and
    ///     100 % of its delay are over, so that many clients of one hub do not come back at the same moment.
    public static func exponential(
        first: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(60), jitter: Double = 0.2
    ) -> ExponentialDelays {
        ExponentialDelays(first: first, factor: factor, maximum: maximum, jitter: jitter)
    }
}
