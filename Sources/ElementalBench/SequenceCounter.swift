/// Counts numbered messages of one run: which came, which came twice, which came late.
///
/// It remembers the newest 65,536 numbers, so that a run of any length takes the same memory; one that comes later
/// than that is counted as late, and as come, unseen.
struct SequenceCounter: Sendable {
    private static let window = 65536

    private(set) var count = 0
    private(set) var repeated = 0
    private(set) var disordered = 0
    private var highest = -1
    private var seen = [UInt64](repeating: 0, count: window / 64)

    /// Takes in the number of a message.
    ///
    /// - Returns: whether it is the message's first arrival.
    mutating func take(_ number: UInt32) -> Bool {
        let number = Int(number)
        if number > highest {
            forget(highest + 1, through: number)
            highest = number
        } else {
            if number > highest - Self.window {
                guard seen[number / 64 % seen.count] & (1 << UInt64(number % 64)) == 0 else {
                    repeated += 1
                    return false
                }
            }
            disordered += 1
        }
        seen[number / 64 % seen.count] |= 1 << UInt64(number % 64)
        count += 1
        return true
    }

    /// The places of these numbers held older ones.
    private mutating func forget(_ first: Int, through last: Int) {
        for number in max(first, last - Self.window + 1)...last {
            seen[number / 64 % seen.count] &= ~(1 << UInt64(number % 64))
        }
    }
}
