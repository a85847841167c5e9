/// What became of numbers that were sent as 1, 2, 3 … in their lower 32 bits; the upper ones name the sender's run.
struct Tally: Sendable {
    /// Numbers whose places are remembered, to tell a doubled one from a late one.
    private static let memory: UInt64 = 1 << 8

    /// Numbers that came.
    private(set) var received: UInt64 = 0
    /// The highest of them.
    private(set) var last: UInt64 = 0
    /// Numbers skipped where a new connection began: they were under way when the old one broke.
    private(set) var lostAtBreaks: UInt64 = 0
    /// Numbers skipped within a connection, those that came late not counted.
    private(set) var missing: Int64 = 0
    /// Numbers that came after a higher one.
    private(set) var late: UInt64 = 0
    /// Numbers of an earlier connection that came when the next one had begun: no promise holds between the two.
    private(set) var overtaken: UInt64 = 0
    /// Numbers that came twice.
    private(set) var doubled: UInt64 = 0

    private var isFresh = true
    private var recent = [UInt64](repeating: 0, count: Int(memory))

    /// A new connection begins.
    mutating func breakOff() { isFresh = true }

    /// - Parameter isOfBefore: whether it came over an earlier connection than the newest.
    mutating func take(_ number: UInt64, isOfBefore: Bool = false) {
        if number >> 32 != last >> 32 {
            // The sender begins anew, and so does the count of what came.
            last = (number >> 32) << 32
            received = 0
            lostAtBreaks = 0
            isFresh = true
        }
        let place = Int(number % Self.memory)
        defer { recent[place] = number }
        if number > last {
            let skipped = number - last - 1
            if isFresh { lostAtBreaks += skipped } else { missing += Int64(skipped) }
            last = number
        } else if recent[place] == number {
            doubled += 1
            return
        } else if isOfBefore {
            overtaken += 1
            lostAtBreaks -= min(1, lostAtBreaks)
            received += 1
            return
        } else {
            late += 1
            missing -= 1
        }
        isFresh = false
        received += 1
    }

    /// The counts by name, each with `prefix`.
    func members(_ prefix: String) -> [String: any Sendable] {
        [
            prefix + "Received": received, prefix + "Last": last & 0xFFFF_FFFF, prefix + "LostAtBreaks": lostAtBreaks,
            prefix + "Missing": missing, prefix + "Late": late,
            prefix + "Overtaken": overtaken, prefix + "Doubled": doubled,
        ]
    }
}
