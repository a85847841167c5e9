import NIOCore
import Support

/// How fast bytes are sent to the machine.
///
/// It limits two things: the bytes in flight on the line, so that what follows can still change (a newer value of a
/// `latest` element, a restarted program); and the fill level of the machine's receive buffer of 255 bytes, which the
/// program drains at a limited rate.
struct Pace {
    private var line: TokenBucket
    private var buffer: TokenBucket

    /// Bytes written to the line ahead of its speed.
    static let lead = 12
    /// The KERNAL's ring of 256 bytes holds 255; one is reserved for a byte in flight.
    static let bufferByteCount = 254

    /// - Parameter lineRate: the line's capacity in bytes per second, or less to pace a program.
    init(lineRate: Double, readRate: Double) {
        line = TokenBucket(capacity: Self.lead, perSecond: lineRate)
        buffer = TokenBucket(capacity: Self.bufferByteCount, perSecond: readRate)
    }

    mutating func room(at now: NIODeadline) -> Int { min(line.available(at: now), buffer.available(at: now)) }

    mutating func note(_ count: Int, at now: NIODeadline) {
        line.spend(count, at: now)
        buffer.spend(count, at: now)
    }

    /// When to check again while something is queued: when half of the lead is free.
    var nextTime: NIODeadline { max(line.time(for: Self.lead / 2), buffer.time(for: Self.lead / 2)) }
}
