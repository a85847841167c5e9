import NIOCore

/// Counts the values received within a second. No timers.
struct Throttle {
    /// The maximum number of values per second, at least 1.
    let limit: Int
    /// Whether the limit of this second is reached.
    private(set) var isOver = false
    private var count = 0
    private var end = NIODeadline.uptimeNanoseconds(0)

    init(limit: Int) { self.limit = max(1, limit) }

    /// Adds received values.
    ///
    /// - Returns: when to call ``goOn(at:)``, if this reaches the limit.
    mutating func add(_ number: Int, at now: NIODeadline) -> NIODeadline? {
        if now >= end, !isOver {
            count = 0
            end = now + .seconds(1)
        }
        count += number
        guard count >= limit, !isOver else { return nil }
        isOver = true
        return end
    }

    /// Begins a new second. Values beyond the previous one's limit, received in the same read, count towards this one.
    ///
    /// - Returns: when to call it again, if they reach the limit again.
    mutating func goOn(at now: NIODeadline) -> NIODeadline? {
        count = max(0, count - limit)
        end = now + .seconds(1)
        isOver = count >= limit
        return isOver ? end : nil
    }
}
