import NIOCore

/// Notices that so much is received so fast that the loop had better not sleep for a moment: on one machine waking
/// it for every long value can cost the sender as much as sending the value, and keeps both slow. No clock.
struct BulkFlow {
    /// A batch of reads of so many bytes is a part of such a flow.
    private static let leastByteCount = 32 * 1024
    /// The longest time between two of them in a fast flow: more than 2.6 Gbit/s.
    private static let longestPeriod = TimeAmount.microseconds(100)
    /// How long the loop waits for the next one without sleeping.
    static let patience = TimeAmount.microseconds(20)

    private var byteCount = 0
    private var last: NIODeadline?

    /// Something was read.
    mutating func noteRead(_ byteCount: Int) { self.byteCount += byteCount }

    /// The batch of reads has ended.
    ///
    /// - Parameter clock: is only asked about long batches.
    /// - Returns: the time, if the loop had better not sleep until ``patience`` later.
    mutating func endBatch(at clock: () -> NIODeadline) -> NIODeadline? {
        defer { byteCount = 0 }
        guard byteCount >= Self.leastByteCount else { return nil }
        let now = clock()
        defer { last = now }
        guard let last, now - last <= Self.longestPeriod else { return nil }
        return now
    }
}
