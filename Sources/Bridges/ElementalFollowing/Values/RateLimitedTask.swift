package import NIOCore
internal import Support

/// Runs rounds on an event loop: at most one in each interval, and the first after a pause at once. Requests in between
/// are combined into the next round.
///
/// It belongs to its event loop.
package final class RateLimitedTask {
    package typealias Instant = ContinuousClock.Instant

    /// Called for each round. It may request the next one.
    package var onRound: () -> Void = {}

    private let loop: any EventLoop
    private let interval: Duration
    private var next: (task: Scheduled<Void>, time: Instant)?
    private var last: Instant?
    private var hasEnded = false

    package init(every interval: Duration, on loop: any EventLoop) {
        self.interval = interval
        self.loop = loop
    }

    /// Requests a round now or at the given time.
    package func ask(at time: Instant? = nil) {
        guard !hasEnded else { return }
        let now = Instant.now
        let opening = last.map { $0 + interval } ?? now
        let time = max(time ?? now, opening)
        if let next {
            guard time < next.time else { return }
            next.task.cancel()
        }
        let task = loop.assumeIsolated().scheduleTask(in: TimeAmount(max(.zero, time - now))) { [weak self] in
            if let self { run() }
        }
        next = (task, time)
    }

    private func run() {
        next = nil
        last = .now
        onRound()
    }

    package func end() {
        next?.task.cancel()
        next = nil
        hasEnded = true
    }
}
