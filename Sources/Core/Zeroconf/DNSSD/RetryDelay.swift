/// The growing delay between attempts: 0.5 s, 1 s, 2 s … up to 30 s.
package struct RetryDelay: Sendable {
    private static let first = Duration.milliseconds(500)
    private static let longest = Duration.seconds(30)
    private var upcoming = Self.first

    package init() {}

    /// The delay before the next attempt; the one after it is twice as long.
    package mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, Self.longest) }
        return upcoming
    }

    /// After a success the next failure starts from the shortest delay.
    package mutating func reset() {
        upcoming = Self.first
    }
}
