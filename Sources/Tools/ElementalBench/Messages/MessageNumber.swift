/// The first 8 bytes of every message of a measurement: its run and its number within the run.
struct MessageNumber: Sendable, Equatable {
    /// The run in the upper 24 bits, the sequence number in the lower 40. Adding 1 gives the number of the next message.
    var rawValue: UInt64

    /// Its length in a message.
    static let byteCount = 8
    /// The highest number of a run; the lowest is 1.
    static let highestRun: UInt32 = 0xFF_FFFF

    init(rawValue: UInt64) { self.rawValue = rawValue }

    /// - Parameters:
    ///   - run: 1 to ``highestRun``.
    ///   - sequence: from 0, less than 2^40.
    init(run: UInt32, sequence: UInt64 = 0) { rawValue = UInt64(run) << 40 | sequence }

    /// The number that distinguishes a run's messages from those of earlier runs.
    var run: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 40) }
    /// The message's number within its run, from 0.
    var sequence: UInt64 { rawValue & 0xFF_FFFF_FFFF }
    var next: MessageNumber { MessageNumber(rawValue: rawValue &+ 1) }

    static func newRun() -> UInt32 { .random(in: 1...highestRun) }
}
