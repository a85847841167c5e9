import NIOCore

/// Decides when to ping a peer and when it is dead: takes times, returns actions. No sockets, no timers.
///
/// A ping is sent when nothing was received for an interval, and also when nothing was sent for one: so the other end
/// hears from a peer that only listens, too.
struct Heartbeat {
    enum Step: Equatable {
        /// Nothing to do before that time.
        case wait(NIODeadline)
        /// Send a ping, and check again at that time.
        case ping(NIODeadline)
        /// Nothing was received for the maximum time allowed.
        case dead
    }

    /// Silence after which the peer is pinged.
    let interval: TimeAmount
    /// Silence after which it is considered dead.
    let patience: TimeAmount
    /// When something was last received.
    var lastHeard: NIODeadline
    private var lastPing: NIODeadline
    private var lastSent: NIODeadline
    private var sentByteCount = 0

    init(interval: TimeAmount, patience: TimeAmount, now: NIODeadline) {
        self.interval = interval
        self.patience = patience
        lastHeard = now
        lastPing = now
        lastSent = now
    }

    /// - Parameters:
    ///   - listens: whether incoming data is read; while it is not, silence means nothing.
    ///   - sentByteCount: the total of bytes written so far.
    mutating func step(at now: NIODeadline, listens: Bool, sentByteCount: Int) -> Step {
        if sentByteCount != self.sentByteCount {
            self.sentByteCount = sentByteCount
            lastSent = now
        }
        if !listens { lastHeard = now }
        let death = lastHeard + patience
        if now >= death { return .dead }
        let isQuiet = !listens || now - lastHeard >= interval || now - lastSent >= interval
        if isQuiet, now - lastPing >= interval {
            lastPing = now
            return .ping(min(now + interval, death))
        }
        let due = max(lastPing, isQuiet ? lastPing : min(lastHeard, lastSent)) + interval
        return .wait(min(max(due, now + .milliseconds(1)), death))
    }
}
