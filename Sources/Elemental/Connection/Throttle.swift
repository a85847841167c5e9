import NIOCore

/// Counts what comes within a second. No timers.
struct Throttle {
    /// Values a second that may come.
    let limit: Int
    private(set) var isOver = false
    private var count = 0
    private var end = NIODeadline.uptimeNanoseconds(0)

    init(limit: Int) { self.limit = limit }

    /// Adds values that came.
    ///
    /// - Returns: when the second is over, if this filled it.
    mutating func add(_ number: Int, at now: NIODeadline) -> NIODeadline? {
        if now >= end { begin(at: now) }
        count += number
        guard count >= limit, !isOver else { return nil }
        isOver = true
        return end
    }

    /// Begins a new second. What came too many in the last one, since it lay in the same read, counts.
    mutating func begin(at now: NIODeadline) {
        count = max(0, count - limit)
        isOver = false
        end = now + .seconds(1)
    }
}
