/// Delays between attempts that grow by a factor up to a maximum.
///
/// Use ``delay(before:)`` with an attempt's number, or let this type count: call ``next()`` after each failure and
/// ``reset()`` after a success.
package struct BackOff: Sendable, Hashable {
    /// The delay before the first attempt, at least zero.
    package let first: Duration
    /// The longest delay.
    package let maximum: Duration
    /// The factor between successive delays, at least 1.
    package let factor: Double
    /// The random part of each delay, 0...1. With 0.2 an attempt is made after 80 to 100 % of its delay.
    package let jitter: Double
    private var failures = 0

    /// Clamps values out of range. The defaults give 0.5 s, 1 s, 2 s … up to 30 s.
    package init(
        first: Duration = .milliseconds(500), maximum: Duration = .seconds(30), factor: Double = 2, jitter: Double = 0
    ) {
        self.first = max(first, .zero)
        self.maximum = max(maximum, .zero)
        self.factor = factor > 1 ? factor : 1
        self.jitter = jitter > 0 ? min(jitter, 1) : 0
    }

    /// Counts a failure and returns the delay after it.
    package mutating func next() -> Duration {
        if failures < Int.max { failures += 1 }
        return delay(before: failures)
    }

    /// Counts a success: the next failure starts with the shortest delay.
    package mutating func reset() { failures = 0 }

    /// The delay before an attempt. The first attempt has the number 1.
    package func delay(before attempt: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(before: attempt, using: &generator)
    }

    /// The delay before an attempt, with the caller's source of randomness.
    package func delay(before attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let longest = longestDelay(before: attempt)
        return jitter == 0 ? longest : longest * (1 - jitter * Double.random(in: 0...1, using: &generator))
    }

    private func longestDelay(before attempt: Int) -> Duration {
        guard first > .zero, factor > 1 else { return min(first, maximum) }
        let most = maximum / first
        var growth = 1.0
        for _ in 1..<max(attempt, 1) {
            guard growth < most else { break }
            growth *= factor
        }
        return growth < most ? first * growth : maximum
    }
}

/// Counts successive connections that were lost within 10 s. From the fourth on, the next attempt has to wait, whatever
/// the policy says: two clients with the same identifier would otherwise take over each other's session without end.
package struct ShortLivedConnections: Sendable {
    private var count = 0

    package init() {}

    /// Counts a lost connection.
    ///
    /// - Parameter time: how long the connection lived; `nil` if the attempt failed.
    /// - Returns: whether the connection was short-lived.
    @discardableResult
    package mutating func lost(after time: Duration?) -> Bool {
        let isShort = time.map { $0 < .seconds(10) } ?? false
        count = isShort ? count + 1 : 0
        return isShort
    }

    /// The shortest delay before the next attempt.
    package var minimumDelay: Duration { count > 3 ? BackOff(first: .seconds(1)).delay(before: count - 3) : .zero }
}
