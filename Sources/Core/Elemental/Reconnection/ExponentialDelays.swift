/// Delays that grow by a factor up to a maximum. It never gives up.
public struct ExponentialDelays: ReconnectionPolicy, Hashable {
    /// The delay before the first attempt, from zero.
    public let first: Duration
    /// How many times as long each delay is as the one before, from 1.
    public let factor: Double
    /// The longest delay.
    public let maximum: Duration
    /// The part of each delay that is left to chance, 0...1.
    public let jitter: Double

    /// A policy with growing delays. Numbers outside their range count as the nearest within.
    public init(first: Duration, factor: Double, maximum: Duration, jitter: Double) {
        self.first = max(first, .zero)
        self.factor = factor > 1 ? factor : 1
        self.maximum = max(maximum, .zero)
        self.jitter = jitter > 0 ? min(jitter, 1) : 0
    }

    public func delay(before attempt: ReconnectionAttempt) -> Duration? {
        var generator = SystemRandomNumberGenerator()
        return delay(attempt.number, &generator)
    }

    func delay(_ number: Int, _ generator: inout some RandomNumberGenerator) -> Duration {
        guard first > .zero else { return .zero }
        let most = maximum / first
        var growth = 1.0
        for _ in 1..<max(number, 1) where growth < most { growth *= factor }
        let longest = growth < most ? first * growth : maximum
        return longest * (1 - jitter * Double.random(in: 0...1, using: &generator))
    }
}

extension ReconnectionPolicy where Self == ExponentialDelays {
    /// Delays that grow by a factor up to a maximum, for ever.
    ///
    /// - Parameters:
    ///   - first: the delay before the first attempt.
    ///   - factor: how many times as long each delay is as the one before.
    ///   - maximum: the longest delay.
    ///   - jitter: the part of each delay that is left to chance, 0...1: with 0.2 an attempt comes when between 80 and
    ///     100 % of its delay are over, so that many clients of one service do not come back at the same moment.
    public static func exponential(
        first: Duration = .seconds(1), factor: Double = 2, maximum: Duration = .seconds(60), jitter: Double = 0.2
    ) -> ExponentialDelays {
        ExponentialDelays(first: first, factor: factor, maximum: maximum, jitter: jitter)
    }
}
