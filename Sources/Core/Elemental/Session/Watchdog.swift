import ElementalWire
import NIOCore

/// Watches the time: whether the handshake is done in time, whether the peer lives, and whether it takes what is sent. On
/// the event loop.
final class Watchdog {
    enum Finding {
        /// The handshake took too long.
        case handshakeTimedOut
        /// Nothing came for long enough to ask the peer whether it lives.
        case needsPing
        /// Nothing came for as long as is allowed.
        case silent
        /// The peer took nothing of what waits for it for as long as is allowed.
        case stuck
    }

    private let device: ElementalDevice
    private let sender: Sender
    /// Told what is found.
    private var report: (Finding) -> Void = { _ in }
    private var handshakeTimer: Scheduled<Void>?
    /// `nil` where the peer answers no pings.
    private var heartbeat: Heartbeat?
    private var heartbeatTimer: Scheduled<Void>?
    private var pingTime: NIODeadline?
    private var stuckTimer: Scheduled<Void>?
    private var isOver = false

    init(_ device: ElementalDevice, _ sender: Sender) {
        self.device = device
        self.sender = sender
    }

    /// The connection is there, and the handshake begins.
    func start(_ report: @escaping (Finding) -> Void) {
        self.report = report
        handshakeTimer = device.eventLoop.assumeIsolated().scheduleTask(
            in: TimeAmount(device.limits.handshakeTimeout)
        ) { [self] in self.report(.handshakeTimedOut) }
    }

    func handshakeIsDone() { handshakeTimer?.cancel() }

    /// The connection ends.
    func stop() {
        isOver = true
        report = { _ in }
        handshakeTimer?.cancel()
        heartbeatTimer?.cancel()
        stuckTimer?.cancel()
    }

    // MARK: Whether the peer lives

    /// Begins to watch a peer that answers pings.
    ///
    /// - Returns: whether this call began it.
    func startHeartbeat() -> Bool {
        guard !isOver, heartbeat == nil, let interval = device.limits.heartbeatInterval,
            let silence = device.limits.maximumSilence
        else { return false }
        heartbeat = Heartbeat(
            interval: TimeAmount(interval), patience: TimeAmount(silence), now: device.eventLoop.now)
        checkHeartbeat()
        return true
    }

    /// Something came.
    func noteHeard() {
        if heartbeat != nil { heartbeat?.lastHeard = device.eventLoop.now }
    }

    private func checkHeartbeat() {
        guard !isOver else { return }
        let now = device.eventLoop.now
        switch heartbeat?.step(at: now, listens: !device.isPaused, sentByteCount: sender.writtenByteCount) {
        case nil:
            return
        case .dead:
            report(.silent)
        case .ping(let next):
            pingTime = now
            report(.needsPing)
            scheduleHeartbeat(next)
        case .wait(let next):
            scheduleHeartbeat(next)
        }
    }

    private func scheduleHeartbeat(_ time: NIODeadline) {
        // The ping may have met the end.
        guard !isOver else { return }
        heartbeatTimer = device.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in checkHeartbeat() }
    }

    /// A pong came. Those of the heartbeat are numbered 0.
    ///
    /// - Returns: the round trip's time; `nil` if it is no answer to the heartbeat's ping.
    func takePong(_ value: UnsafeRawBufferPointer) -> Duration? {
        guard let sent = pingTime, value.count == 8, value.allSatisfy({ $0 == 0 }) else { return nil }
        pingTime = nil
        return Duration(device.eventLoop.now - sent)
    }

    // MARK: Whether the peer takes what is sent

    /// Something of the stream is unsent.
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
