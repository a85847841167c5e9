/// Counts received numbers, sent as 1, 2, 3 … in their lower 32 bits; the upper ones are the sender's run.
struct Tally: Sendable {
    /// Missing numbers that are remembered, to distinguish duplicates from late ones.
    private static let memory: UInt64 = 1 << 8

    private(set) var received: UInt64 = 0
    private(set) var last: UInt64 = 0
    /// Numbers missing at the start of a new connection: they were in flight when the old one broke.
    private(set) var lostAtBreaks: UInt64 = 0
    /// Numbers missing within a connection, without late ones.
    private(set) var missing: Int64 = 0
    private(set) var late: UInt64 = 0
    /// Numbers of an earlier connection that arrived after the next one had begun: there is no guarantee across the two.
    private(set) var overtaken: UInt64 = 0
    private(set) var doubled: UInt64 = 0

    private var isFresh = true
    private var recent = [UInt64](repeating: 0, count: Int(memory))

    mutating func breakOff() { isFresh = true }

    /// - Parameter isOfBefore: whether it came over an earlier connection than the newest.
    mutating func take(_ number: UInt64, isOfBefore: Bool = false) {
        if number >> 32 != last >> 32 {
            // The sender starts again, and so does the count of received numbers.
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
