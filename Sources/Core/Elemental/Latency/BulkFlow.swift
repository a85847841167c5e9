import NIOCore

/// Detects a fast bulk flow, during which the loop should not sleep: on some machines waking it for every long value
/// costs the sender as much as sending the value. No clock.
struct BulkFlow {
    /// Batches of reads shorter than this do not count.
    private static let leastByteCount = 32 * 1024
    /// The longest time between two batches of a fast flow: more than 2.6 Gbit/s.
    private static let longestPeriod = TimeAmount.microseconds(100)
    /// How long the loop waits for the next batch without sleeping.
    static let patience = TimeAmount.microseconds(20)

    private var byteCount = 0
    private var last: NIODeadline?

    mutating func noteRead(_ byteCount: Int) { self.byteCount += byteCount }

    /// - Parameter clock: read after long batches only.
    /// - Returns: the time, if the loop should not sleep until ``patience`` later.
    mutating func endBatch(at clock: () -> NIODeadline) -> NIODeadline? {
        defer { byteCount = 0 }
        guard byteCount >= Self.leastByteCount else { return nil }
        let now = clock()
        defer { last = now }
        guard let last, now - last <= Self.longestPeriod else { return nil }
        return now
    }
}
