import NIOCore

extension Latency {
    func wakefulness(on eventLoop: any EventLoop) -> (any Wakefulness)? {
        hold.map { ConnectionWakefulness(eventLoop, AwakeTime(hold: $0)) }
    }
}

/// Keeps a connection's event loop awake for the times that its ``AwakeTime`` decides.
final class ConnectionWakefulness: Wakefulness {
    private let eventLoop: any EventLoop
    private var awakeTime: AwakeTime
    private var loop: SleeplessLoop?
    private var isNextValueAwaited = false

    init(_ eventLoop: any EventLoop, _ awakeTime: AwakeTime) {
        self.eventLoop = eventLoop
        self.awakeTime = awakeTime
    }

    func start() { loop = .retain(on: eventLoop) }

    func stop() {
        loop?.release()
        loop = nil
    }

    func beginBatch() { stayAwake { awakeTime.noteArrival(at: $0) } }

    func noteSend() { stayAwake { awakeTime.end(from: $0) } }

    private func stayAwake(until end: (NIODeadline) -> NIODeadline) {
        guard let loop else { return }
        let now = NIODeadline.now()
        loop.stayAwake(until: end(now), now: now)
        awaitNextValue(at: now)
    }

    private func awaitNextValue(at now: NIODeadline) {
        guard !isNextValueAwaited, let window = awakeTime.nextWindow, now < window.lowerBound else { return }
        isNextValueAwaited = true
        eventLoop.assumeIsolated().scheduleTask(deadline: window.lowerBound) { [self] in
            isNextValueAwaited = false
            guard let loop, let window = awakeTime.nextWindow else { return }
            let now = NIODeadline.now()
            // Values may have arrived meanwhile; after the last value of a flow, none is awaited again.
            if now < window.lowerBound {
                awaitNextValue(at: now)
            } else if now < window.upperBound {
                loop.stayAwake(until: window.upperBound, now: now)
            }
        }
    }
}
