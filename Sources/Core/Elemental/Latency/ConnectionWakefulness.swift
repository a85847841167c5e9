import NIOCore

extension Latency {
    func wakefulness(on eventLoop: any EventLoop) -> any Wakefulness { ConnectionWakefulness(eventLoop, self) }
}

/// Keeps the event loop awake around a connection's values, as its ``Latency`` asks, and between the parts of a bulk
/// flow.
final class ConnectionWakefulness: Wakefulness {
    private let eventLoop: any EventLoop
    /// `nil` if the loop may always sleep between single values.
    private var awakeTime: AwakeTime?
    private var bulkFlow = BulkFlow()
    private var loop: SleeplessLoop?
    private var isNextValueAwaited = false
    private var isOver = false

    init(_ eventLoop: any EventLoop, _ latency: Latency) {
        self.eventLoop = eventLoop
        awakeTime = latency.hold.map { AwakeTime(hold: $0) }
    }

    private var purpose: SleeplessLoop.Purpose { awakeTime == nil ? .throughput : .latency }

    func start() {
        if awakeTime != nil { loop = .retain(on: eventLoop, for: .latency) }
    }

    func stop() {
        isOver = true
        loop?.release(from: purpose)
        loop = nil
    }

    func beginBatch() {
        guard awakeTime != nil, let loop else { return }
        let now = NIODeadline.now()
        if let end = awakeTime?.noteArrival(at: now) { keepAwake(loop, until: end, at: now) }
    }

    func noteSend() {
        guard awakeTime != nil, let loop else { return }
        let now = NIODeadline.now()
        if let end = awakeTime?.end(from: now) { keepAwake(loop, until: end, at: now) }
    }

    private func keepAwake(_ loop: SleeplessLoop, until end: NIODeadline, at now: NIODeadline) {
        loop.stayAwake(until: end, now: now)
        awaitNextValue(at: now)
    }

    /// Wakes the loop shortly before the next value of a steady flow is due.
    private func awaitNextValue(at now: NIODeadline) {
        guard !isNextValueAwaited, let window = awakeTime?.nextWindow, now < window.start else { return }
        isNextValueAwaited = true
        eventLoop.assumeIsolated().scheduleTask(deadline: window.start) { [self] in
            isNextValueAwaited = false
            guard let loop, let window = awakeTime?.nextWindow else { return }
            let now = NIODeadline.now()
            // Values may have arrived meanwhile; after the last value of a flow, none is awaited again.
            if now < window.start {
                awaitNextValue(at: now)
            } else if now < window.end {
                loop.stayAwake(until: window.end, now: now)
            }
        }
    }

    func noteRead(_ byteCount: Int) { bulkFlow.noteRead(byteCount) }

    func endBatch() {
        guard let now = bulkFlow.endBatch(at: NIODeadline.now), !isOver else { return }
        if loop == nil { loop = .retain(on: eventLoop, for: .throughput) }
        loop?.stayAwake(until: now + BulkFlow.patience, now: now)
    }
}
