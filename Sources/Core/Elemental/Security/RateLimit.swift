import NIOCore

/// Allows a number of events each second, and as many at once after a pause. Takes times. No timers.
struct RateLimit: Sendable {
    private let perSecond: Int
    /// When all are available again.
    private var recovery = NIODeadline.uptimeNanoseconds(0)

    init(perSecond: Int) { self.perSecond = perSecond }

    private var interval: TimeAmount { .nanoseconds(1_000_000_000 / Int64(perSecond)) }

    /// Whether nothing was taken for so long that all are available.
    func isFull(at now: NIODeadline) -> Bool { recovery <= now }

    func allows(at now: NIODeadline) -> Bool { max(recovery, now) + interval <= now + .seconds(1) }

    /// - Returns: whether one was available.
    @discardableResult
    mutating func take(at now: NIODeadline) -> Bool {
        guard allows(at: now) else { return false }
        recovery = max(recovery, now) + interval
        return true
    }
}

/// A rate limit for each key. Keys of which nothing was taken for a second are forgotten.
struct RateLimits<Key: Hashable & Sendable>: Sendable {
    private let perSecond: Int
    private var limits: [Key: RateLimit] = [:]
    /// How many keys lead to a search for those that can be forgotten.
    private var searchCount = 64

    init(perSecond: Int) { self.perSecond = perSecond }

    var count: Int { limits.count }

    func allows(_ key: Key, at now: NIODeadline) -> Bool { limits[key]?.allows(at: now) != false }

    mutating func take(_ key: Key, at now: NIODeadline) {
        limits[key, default: RateLimit(perSecond: perSecond)].take(at: now)
        guard limits.count > searchCount else { return }
        limits = limits.filter { !$0.value.isFull(at: now) }
        searchCount = max(64, 2 * limits.count)
    }
}
