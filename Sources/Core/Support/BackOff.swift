/// Delays between attempts that grow by a factor up to a maximum.
///
/// Either ask for the delay of an attempt by its number, or let it count: ``next()`` after each failure, ``reset()`` after
/// a success.
package struct BackOff: Sendable, Hashable {
    /// The delay before the first attempt, from zero.
    package let first: Duration
    /// The longest delay.
    package let maximum: Duration
    /// How many times as long each delay is as the one before, from 1.
    package let factor: Double
    /// The part of each delay that is left to chance, 0...1: with 0.2 an attempt comes after 80 to 100 % of its delay.
    package let jitter: Double
    private var failures = 0

    /// Numbers outside their range count as the nearest within. Without arguments: 0.5 s, 1 s, 2 s … up to 30 s.
    package init(
        first: Duration = .milliseconds(500), maximum: Duration = .seconds(30), factor: Double = 2, jitter: Double = 0
    ) {
        self.first = max(first, .zero)
        self.maximum = max(maximum, .zero)
        self.factor = factor > 1 ? factor : 1
        self.jitter = jitter > 0 ? min(jitter, 1) : 0
    }

    /// The delay after a failure; the one after it is longer.
    package mutating func next() -> Duration {
        if failures < Int.max { failures += 1 }
        return delay(before: failures)
    }

    /// After a success the next failure starts from the shortest delay.
    package mutating func reset() { failures = 0 }

    /// The delay before an attempt, the first of which has the number 1.
    package func delay(before attempt: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(before: attempt, using: &generator)
    }

    /// The delay before an attempt, with randomness from a source of the caller's.
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

/// Connections in a row that are lost within 10 s: from the fourth on the next attempt waits, whatever a policy says. Two
/// clients with the same identifier would otherwise take the session from each other without end.
package struct ShortLivedConnections: Sendable {
    private var count = 0

    package init() {}

    /// Notes how long a connection has lived that is lost; `nil` if there was none.
    ///
    /// - Returns: whether that was short.
    @discardableResult
    package mutating func lost(after time: Duration?) -> Bool {
        let isShort = time.map { $0 < .seconds(10) } ?? false
        count = isShort ? count + 1 : 0
        return isShort
    }

    /// The shortest delay before the next attempt.
    package var minimumDelay: Duration { count > 3 ? BackOff(first: .seconds(1)).delay(before: count - 3) : .zero }
}
