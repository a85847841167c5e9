import NIOCore

/// Counts what comes within a second. No timers.
struct Throttle {
    /// Values a second that may come, at least 1.
    let limit: Int
    /// Whether a second has brought all that it may.
    private(set) var isOver = false
    private var count = 0
    private var end = NIODeadline.uptimeNanoseconds(0)

    init(limit: Int) { self.limit = max(1, limit) }

    /// Adds values that came.
    ///
    /// - Returns: when to call ``goOn(at:)``, if this filled the second.
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

    /// Begins a new second. What came too much in the one before, since it lay in the same read, counts in this one.
    ///
    /// - Returns: when to call it again, if that fills this one too.
    mutating func goOn(at now: NIODeadline) -> NIODeadline? {
        count = max(0, count - limit)
        end = now + .seconds(1)
        isOver = count >= limit
        return isOver ? end : nil
    }
}
