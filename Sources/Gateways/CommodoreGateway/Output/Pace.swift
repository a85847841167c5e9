import NIOCore
import Support

/// How fast bytes are sent to the machine.
///
/// It limits two things: the bytes in flight on the line, so that later values can still change (a newer value of a
/// `latest` element, a restarted program); and the fill level of the machine's receive buffer of 255 bytes, which the
/// program drains at a limited rate, unless the machine pauses the line before its buffer is full.
struct Pace {
    private var line: TokenBucket
    private var buffer: TokenBucket?
    private let lead: Int

    /// Bytes written to the line ahead of its speed. A fast line gets the bytes of 10 ms, because timers are coarser
    /// than the time of one byte.
    static let lead = 12
    /// The KERNAL's ring of 256 bytes holds 255; one is reserved for a byte in flight.
    static let bufferByteCount = 254

    /// - Parameters:
    ///   - lineRate: the line's capacity in bytes per second, or less to pace a program.
    ///   - readRate: the rate at which the program reads, in bytes per second; `nil` if the machine pauses the line
    ///     itself.
    init(lineRate: Double, readRate: Double?) {
        lead = max(Self.lead, Int(lineRate / 100))
        line = TokenBucket(capacity: lead, perSecond: lineRate)
        buffer = readRate.map { TokenBucket(capacity: Self.bufferByteCount, perSecond: $0) }
    }

    mutating func room(at now: NIODeadline) -> Int {
        min(line.available(at: now), buffer?.available(at: now) ?? .max)
    }

    mutating func note(_ count: Int, at now: NIODeadline) {
        line.spend(count, at: now)
        buffer?.spend(count, at: now)
    }

    /// When to check again while something is queued: when half of the lead is free.
    var nextTime: NIODeadline {
        let time = line.time(for: lead / 2)
        return max(time, buffer?.time(for: lead / 2) ?? time)
    }
}
