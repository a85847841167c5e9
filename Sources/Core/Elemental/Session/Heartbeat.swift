import NIOCore

/// Decides when a peer is pinged and when it is dead: takes times, answers what to do. No sockets, no timers.
///
/// A ping leaves when nothing has come for an interval, and also when nothing was said for one: a peer that only listens
/// is heard by the other end all the same.
struct Heartbeat {
    enum Step: Equatable {
        /// Nothing to do before that time.
        case wait(NIODeadline)
        /// Ping, and look again at that time.
        case ping(NIODeadline)
        /// Nothing came for as long as is allowed.
        case dead
    }

    /// Silence after which the peer is pinged.
    let interval: TimeAmount
    /// Silence after which it is dead.
    let patience: TimeAmount
    /// When something came last.
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
    ///   - listens: whether what comes is read; while it is not, silence means nothing.
    ///   - sentByteCount: all that was written so far.
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
