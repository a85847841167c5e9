package import Elemental
package import NIOCore
internal import Support

/// Passes the values of all services of a bridge on, in rounds on the bridge's event loop: at most one in each interval, and
/// the first after a pause at once. Values that come in between leave together, and a flood of one service does not hold up
/// the loop.
package final class ValueRounds<Element: BridgedElement, Reading, Own> {
    package typealias Service = BridgedService<Element, Reading, Own>

    /// The maximum number of values in a round: others have their turn on the event loop before the next one.
    private static var maximumCount: Int { 1024 }

    /// Passes a value on.
    package var deliver: (ElementValue, _ position: Int, Service) -> Void = { _, _, _ in }
    /// Whether the other side has no room now.
    package var isFull: () -> Bool = { false }
    /// Called before a round and after it.
    package var willBegin: () -> Void = {}
    package var didEnd: () -> Void = {}

    private let loop: any EventLoop
    private let interval: Duration
    /// How long the other side has to make room; `nil` if ``resume()`` is called then.
    private let pause: Duration?
    private var waiting: [Service] = []
    private var next: (task: Scheduled<Void>, time: Lanes.Instant)?
    private var last: Lanes.Instant?
    private var hasEnded = false

    /// - Parameters:
    ///   - interval: the minimum time between two rounds.
    ///   - pause: how long the other side has to make room; `nil` if it says itself that it has.
    package init(every interval: Duration, pause: Duration? = nil, on loop: any EventLoop) {
        self.loop = loop
        self.interval = interval
        self.pause = pause
    }

    /// Adds a value.
    ///
    /// - Returns: `false` if there is no room and it was not accepted.
    package func add(_ value: ElementValue, of element: ElementDefinition, _ service: Service) -> Bool {
        guard service.outbound.add(value, of: element) else { return false }
        guard !service.isWaiting else { return true }
        service.isWaiting = true
        waiting.append(service)
        ask()
        return true
    }

    /// The other side has room again.
    package func resume() {
        if !waiting.isEmpty { ask() }
    }

    /// Forgets which services have values that wait.
    package func removeAll() {
        for service in waiting { service.isWaiting = false }
        waiting = []
    }

    package func end() {
        next?.task.cancel()
        next = nil
        hasEnded = true
        removeAll()
    }

    /// Makes a round when values may go now, or at that time.
    private func ask(at time: Lanes.Instant? = nil) {
        guard !hasEnded else { return }
        let now = Lanes.Instant.now
        let time = max(time ?? now, last.map { $0 + interval } ?? now)
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
        let now = Lanes.Instant.now
        last = now
        willBegin()
        var opening: Lanes.Instant?
        var count = 0
        var remaining: [Service] = []
        for service in waiting {
            var step = Lanes.Step.wait(until: now)
            while count < Self.maximumCount, !isFull() {
                step = service.outbound.next(at: now)
                guard case .send(let element, let value) = step else { break }
                count += 1
                if let position = service.position(of: element) { deliver(value, position, service) }
            }
            switch step {
            case .wait(let time): opening = min(opening ?? time, time)
            case .send: opening = now
            case .idle:
                service.isWaiting = false
                continue
            }
            remaining.append(service)
        }
        waiting = remaining
        didEnd()
        if !isFull() {
            if let opening { ask(at: opening) }
        } else if let pause {
            ask(at: now + pause)
        }
    }
}
