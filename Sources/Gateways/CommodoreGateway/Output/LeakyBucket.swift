import NIOCore

/// A leaky bucket, filled in bursts and drained at a constant rate: the line, or the machine's buffer behind it.
struct LeakyBucket {
    /// The drain rate in bytes per second.
    let rate: Double
    /// The capacity in bytes.
    let capacity: Int
    private var level = 0.0
    private var time = NIODeadline.uptimeNanoseconds(0)

    /// - Parameter rate: from 1; less counts as 1.
    init(rate: Double, capacity: Int) {
        self.rate = rate > 1 ? rate : 1
        self.capacity = capacity
    }

    /// The free capacity in bytes.
    mutating func room(at now: NIODeadline) -> Int {
        settle(now)
        return max(0, capacity - Int(level.rounded(.up)))
    }

    mutating func fill(_ count: Int, at now: NIODeadline) {
        settle(now)
        level += Double(count)
    }

    mutating func empty() { level = 0 }

    /// When there is room for that many bytes, at most its capacity.
    func time(forRoom count: Int) -> NIODeadline {
        let surplus = level + Double(min(count, capacity)) - Double(capacity)
        guard surplus > 0 else { return time }
        return time + .nanoseconds(Int64(surplus / rate * 1e9) + 1)
    }

    private mutating func settle(_ now: NIODeadline) {
        guard now > time else { return }
        level = max(0, level - Double((now - time).nanoseconds) / 1e9 * rate)
        time = now
    }
}
