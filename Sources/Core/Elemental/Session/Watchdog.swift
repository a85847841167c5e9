import ElementalWire
import NIOCore

/// Monitors timeouts: whether the handshake completes in time, whether the peer is alive, and whether it accepts what
/// is sent. On the event loop.
final class Watchdog {
    enum Finding {
        case handshakeTimedOut
        /// Nothing was received, or sent, for an interval.
        case needsPing
        /// Nothing was received for the maximum time allowed.
        case silent
        /// The peer accepted none of the unsent data for the maximum time allowed.
        case stuck
    }

    private let device: ElementalDevice
    private let sender: Sender
    private let receiver: Receiver
    private var report: (Finding) -> Void = { _ in }
    private var handshakeTimer: Scheduled<Void>?
    private var heartbeat: Heartbeat?
    private var heartbeatTimer: Scheduled<Void>?
    private var pingTime: NIODeadline?
    private var stuckTimer: Scheduled<Void>?
    private var isOver = false

    init(_ device: ElementalDevice, _ sender: Sender, _ receiver: Receiver) {
        self.device = device
        self.sender = sender
        self.receiver = receiver
    }

    func start(_ report: @escaping (Finding) -> Void) {
        self.report = report
        handshakeTimer = device.eventLoop.assumeIsolated().scheduleTask(
            in: TimeAmount(device.limits.handshakeTimeout)
        ) { [self] in self.report(.handshakeTimedOut) }
    }

    func handshakeIsDone() { handshakeTimer?.cancel() }

    func stop() {
        isOver = true
        report = { _ in }
        handshakeTimer?.cancel()
        heartbeatTimer?.cancel()
        stuckTimer?.cancel()
    }

    // MARK: Peer liveness

    /// - Returns: whether this call started it.
    func startHeartbeat() -> Bool {
        guard !isOver, heartbeat == nil, let interval = device.limits.heartbeatInterval,
            let silence = device.limits.maximumSilence
        else { return false }
        heartbeat = Heartbeat(
            interval: TimeAmount(interval), patience: TimeAmount(silence), now: device.eventLoop.now)
        checkHeartbeat()
        return true
    }

    private func checkHeartbeat() {
        guard !isOver else { return }
        let now = device.eventLoop.now
        if let heard = heartbeat?.lastHeard, let time = receiver.lastBatchTime {
            heartbeat?.lastHeard = max(heard, time)
        }
        let next: NIODeadline
        switch heartbeat?.step(at: now, listens: !device.isPaused, sentByteCount: sender.writtenByteCount) {
        case nil: return
        case .dead: return report(.silent)
        case .ping(let time):
            pingTime = now
            report(.needsPing)
            // Sending the ping may have ended the connection.
            if isOver { return }
            next = time
        case .wait(let time): next = time
        }
        heartbeatTimer = device.eventLoop.assumeIsolated().scheduleTask(deadline: next) { [self] in checkHeartbeat() }
    }

    /// - Returns: the round-trip time; `nil` if the pong does not answer the heartbeat's ping, which is numbered 0.
    func takePong(_ value: UnsafeRawBufferPointer) -> Duration? {
        guard let sent = pingTime, value.count == 8, value.allSatisfy({ $0 == 0 }) else { return nil }
        pingTime = nil
        return Duration(device.eventLoop.now - sent)
    }

    // MARK: Send progress

    func watchProgress() {
        guard let limit = device.limits.stuckTimeout, !isOver, stuckTimer == nil else { return }
        let mark = sender.acknowledgedByteCount
        stuckTimer = device.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) { [self] in
            stuckTimer = nil
            guard sender.isStreamUnsent else { return }
            guard sender.acknowledgedByteCount == mark else { return watchProgress() }
            report(.stuck)
        }
    }
}

/// Decides when to ping a peer and when it is dead: takes times, returns actions. No sockets, no timers.
///
/// A ping is sent when nothing was received for an interval, and also when nothing was sent for one, so that the other
/// end receives something even from a peer that sends no values.
struct Heartbeat {
    enum Step: Equatable {
        case wait(NIODeadline)
        case ping(NIODeadline)
        /// Nothing was received for the maximum time allowed.
        case dead
    }

    /// Silence after which the peer is pinged.
    let interval: TimeAmount
    /// Silence after which the peer is considered dead.
    let patience: TimeAmount
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
    ///   - sentByteCount: the total so far.
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
