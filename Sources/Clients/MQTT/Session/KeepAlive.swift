import NIOCore

/// Decides when to ping, and when the broker counts as dead.
///
/// A ping is due when nothing was sent, or nothing was received, for the keep-alive; something must then arrive within half
/// of it. So a broker that is gone is noticed after one and a half keep-alives. While the ping waits behind bytes that the
/// network has not taken yet, such as those of a large message, its time does not run, as long as the network takes some in
/// each half keep-alive.
struct KeepAlive {
    enum Step: Equatable {
        case wait(until: NIODeadline)
        case ping
        case timedOut
        case unacknowledged
    }

    /// A ping that nothing followed yet.
    private struct Ping {
        /// The count of queued bytes behind the ping.
        let end: Int
        /// When to look whether the broker, or the network, did something.
        var deadline: NIODeadline
        var written: Int
        /// Whether the system has taken the ping, so that the broker's time runs.
        var isOut: Bool
    }

    let interval: TimeAmount
    private var half: TimeAmount { .nanoseconds(max(1, interval.nanoseconds / 2)) }
    private var lastSent: NIODeadline
    private var lastReceived: NIODeadline
    private var ping: Ping?
    /// When the broker last acknowledged something, or the oldest message that waits for that was sent.
    private var acknowledged: NIODeadline?
    private var lastWritten = 0
    /// Whether the system had not taken everything when it was last looked at.
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
    ///   - queued: the bytes that were queued on this connection so far, the ping included.
    ///   - written: how many of them the system has taken.
    mutating func pinged(at now: NIODeadline, queued: Int, written: Int) {
        ping = Ping(end: queued, deadline: now + half, written: written, isOut: written >= queued)
        note(queued: queued, written: written)
    }

    mutating func step(at now: NIODeadline, queued: Int, written: Int) -> Step {
        // What is under way in a large message cannot be acknowledged yet.
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
