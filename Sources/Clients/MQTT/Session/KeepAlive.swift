import NIOCore

/// Decides when to ping, and when the broker counts as lost.
///
/// A ping is due when nothing was sent, or nothing was received, for one keep-alive. Data must then arrive within half
/// a keep-alive. A lost broker is thus detected after one and a half keep-alives. The ping may wait behind bytes that
/// the network has not taken yet, such as those of a large message. Its timeout does not run meanwhile if the network
/// takes some of them in each half keep-alive.
struct KeepAlive {
    enum Step: Equatable {
        case wait(until: NIODeadline)
        case ping
        case timedOut
        case unacknowledged
    }

    /// A ping after which nothing has arrived yet.
    private struct Ping {
        /// The count of queued bytes up to and including the ping.
        let end: Int
        /// When to check whether the broker has answered, or the network has taken bytes.
        var deadline: NIODeadline
        var written: Int
        /// Whether the system has taken the ping, so that the broker's timeout runs.
        var isOut: Bool
    }

    let interval: TimeAmount
    private var half: TimeAmount { .nanoseconds(max(1, interval.nanoseconds / 2)) }
    private var lastSent: NIODeadline
    private var lastReceived: NIODeadline
    private var ping: Ping?
    /// When the broker last acknowledged a packet, or when the oldest unacknowledged one was sent; `nil` if none is
    /// unacknowledged.
    private var acknowledged: NIODeadline?
    private var lastWritten = 0
    /// Whether the system had not taken all bytes at the last check.
    private var wasBehind = false

    init(interval: TimeAmount, now: NIODeadline) {
        self.interval = interval
        lastSent = now
        lastReceived = now
    }

    mutating func sent(at now: NIODeadline, inFlight: Int) {
        lastSent = now
        if inFlight > 0, acknowledged == nil { acknowledged = now }
    }

    mutating func received(at now: NIODeadline) {
        lastReceived = now
        ping = nil
    }

    mutating func receivedAcknowledgement(at now: NIODeadline, inFlight: Int) {
        acknowledged = inFlight > 0 ? now : nil
    }

    /// - Parameters:
    ///   - queued: the bytes queued on this connection so far, including the ping.
    ///   - written: how many of them the system has taken.
    mutating func pinged(at now: NIODeadline, queued: Int, written: Int) {
        ping = Ping(end: queued, deadline: now + half, written: written, isOut: written >= queued)
        note(queued: queued, written: written)
    }

    mutating func step(at now: NIODeadline, queued: Int, written: Int) -> Step {
        // A large message that is still being sent cannot be acknowledged yet.
        if wasBehind, written > lastWritten, acknowledged != nil { acknowledged = now }
        note(queued: queued, written: written)
        if let since = acknowledged, now >= since + interval + interval { return .unacknowledged }
        guard var ping else {
            let due = min(lastSent, lastReceived) + interval
            return now >= due ? .ping : .wait(until: due)
        }
        guard now >= ping.deadline else { return .wait(until: ping.deadline) }
        guard !ping.isOut, written > ping.written else { return .timedOut }
        ping.isOut = written >= ping.end
        ping.written = written
        ping.deadline = now + half
        self.ping = ping
        return .wait(until: ping.deadline)
    }

    private mutating func note(queued: Int, written: Int) {
        wasBehind = written < queued
        lastWritten = written
    }
}
