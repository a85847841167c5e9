import NIOCore

/// How fast bytes go to the machine.
///
/// Two things are kept from overflowing: the line, on which only a few bytes are under way, so that what comes next can
/// still be changed (a newer value of a `latest` element, a program that starts anew); and the machine's receive buffer
/// of 255 bytes, which the program empties at a limited rate.
struct Pace {
    private var line: LeakyBucket
    private var buffer: LeakyBucket

    /// Bytes given to the line ahead of its speed.
    static let lead = 12
    /// The KERNAL's ring of 256 bytes holds 255; one is left for a byte under way.
    static let bufferByteCount = 254

    /// - Parameters:
    ///   - lineRate: bytes a second that the line carries, or fewer to pace a program.
    ///   - readRate: bytes a second that the program takes from its buffer.
    init(lineRate: Double, readRate: Double) {
        line = LeakyBucket(rate: lineRate, capacity: Self.lead)
        buffer = LeakyBucket(rate: readRate, capacity: Self.bufferByteCount)
    }

    /// How many bytes may go now.
    mutating func room(at now: NIODeadline) -> Int { min(line.room(at: now), buffer.room(at: now)) }

    /// They went.
    mutating func note(_ count: Int, at now: NIODeadline) {
        line.fill(count, at: now)
        buffer.fill(count, at: now)
    }

    /// When to look again while something waits: when half the lead is free.
    var nextTime: NIODeadline { max(line.time(forRoom: Self.lead / 2), buffer.time(forRoom: Self.lead / 2)) }
}
