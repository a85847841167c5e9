import NIOCore

/// Something that is filled in gulps and empties at a steady rate: a line, or the machine's buffer behind it.
struct LeakyBucket {
    /// Bytes a second that leave.
    let rate: Double
    /// The most bytes that may be in it.
    let capacity: Int
    private var level = 0.0
    private var time = NIODeadline.uptimeNanoseconds(0)

    init(rate: Double, capacity: Int) {
        self.rate = rate
        self.capacity = capacity
    }

    /// The bytes that there is room for.
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
