package import Elemental
package import NIOCore

/// Passes on the values of all services of a bridge, in rounds on the bridge's event loop. Values that arrive at about
/// the same time leave together, and a flood from one service does not block the loop.
package final class ValueRounds<Element: BridgedElement, Reading, Own> {
    package typealias Service = BridgedService<Element, Reading, Own>

    /// The maximum number of values in a round. Other work runs on the event loop before the next round.
    private static var maximumCount: Int { 1024 }

    package var deliver: (ElementValue, _ position: Int, Service) -> Void = { _, _, _ in }
    /// Whether the other side has no room now.
    package var isFull: () -> Bool = { false }
    package var willBegin: () -> Void = {}
    package var didEnd: () -> Void = {}

    private let rounds: RateLimitedTask
    /// How long to wait for room on the other side; `nil` if ``resume()`` reports it.
    private let pause: Duration?
    private var waiting: [Service] = []

    /// - Parameter interval: the minimum time between two rounds.
    package init(every interval: Duration, pause: Duration? = nil, on loop: any EventLoop) {
        rounds = RateLimitedTask(every: interval, on: loop)
        self.pause = pause
        rounds.onRound = { [weak self] in self?.run() }
    }

    /// - Returns: `false` if there is no room and the value was not accepted.
    package func add(_ value: ElementValue, of element: ElementDefinition, _ service: Service) -> Bool {
        guard service.outbound.add(value, of: element) else { return false }
        guard !service.isWaiting else { return true }
        service.isWaiting = true
        waiting.append(service)
        rounds.ask()
        return true
    }

    /// The other side has room again.
    package func resume() {
        if !waiting.isEmpty { rounds.ask() }
    }

    package func removeAll() {
        for service in waiting { service.isWaiting = false }
        waiting = []
    }

    package func end() {
        rounds.end()
        removeAll()
    }

    private func run() {
        willBegin()
        let now = ContinuousClock.now
        var next: ContinuousClock.Instant?
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
            case .wait(let opening): next = min(next ?? opening, opening)
            case .send: next = now
            case .idle:
                service.isWaiting = false
                continue
            }
            remaining.append(service)
        }
        waiting = remaining
        didEnd()
        if !isFull() {
            if let next { rounds.ask(at: next) }
        } else if let pause {
            rounds.ask(at: now + pause)
        }
    }
}
