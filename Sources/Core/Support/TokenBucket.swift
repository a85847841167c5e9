package import NIOCore

/// A token bucket: it refills at a constant rate, and holds no more than its capacity.
package struct TokenBucket: Sendable {
    /// The maximum number of tokens.
    package let capacity: Int
    private let perSecond: Double
    /// Below zero after ``spend(_:at:)`` took more tokens than the bucket had.
    private var tokens: Double
    private var time: NIODeadline

    /// - Parameters:
    ///   - perSecond: the tokens added each second, at least 1; smaller numbers count as 1.
    ///   - first: the tokens at the beginning; `nil` for a full bucket.
    package init(
        capacity: Int, perSecond: Double, first: Int? = nil, at now: NIODeadline = .uptimeNanoseconds(0)
    ) {
        self.capacity = capacity
        self.perSecond = perSecond > 1 ? perSecond : 1
        tokens = Double(first ?? capacity)
        time = now
    }

    /// Adds tokens in addition to the refill.
    package mutating func add(_ count: Int) { tokens = min(Double(capacity), tokens + Double(count)) }

    /// Takes the tokens if the bucket has enough.
    package mutating func take(_ count: Int = 1, at now: NIODeadline) -> Bool {
        guard available(at: now) >= count else { return false }
        tokens -= Double(count)
        return true
    }

    /// Takes the tokens, even if the bucket has too few.
    package mutating func spend(_ count: Int, at now: NIODeadline) {
        refill(now)
        tokens -= Double(count)
    }

    /// The number of whole tokens.
    package mutating func available(at now: NIODeadline) -> Int {
        refill(now)
        return max(0, Int(tokens.rounded(.down)))
    }

    /// The time when the bucket has this many tokens (or its capacity, if that is less), provided that none are taken
    /// before.
    package func time(for count: Int) -> NIODeadline {
        let missing = Double(min(count, capacity)) - tokens
        guard missing > 0 else { return time }
        return time + .nanoseconds(Int64(missing / perSecond * 1e9) + 1)
    }

    private mutating func refill(_ now: NIODeadline) {
        guard now > time else { return }
        tokens = min(Double(capacity), tokens + Double((now - time).nanoseconds) / 1e9 * perSecond)
        time = now
    }
}
