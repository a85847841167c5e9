/// The growing delay between attempts: 0.5 s, 1 s, 2 s … up to 30 s.
struct RetryDelay: Sendable {
    private static let first = Duration.milliseconds(500)
    private static let longest = Duration.seconds(30)
    private var upcoming = Self.first

    /// The delay before the next attempt; the one after it is twice as long.
    mutating func next() -> Duration {
        defer { upcoming = min(upcoming * 2, Self.longest) }
        return upcoming
    }

    /// After a success the next failure starts from the shortest delay.
    mutating func reset() {
        upcoming = Self.first
    }
}
