import Elemental
import Support

/// Hands the values that go one way on, one at a time, when their time has come.
final class Courier: Sendable {
    /// What became of a value.
    enum Delivery {
        case done
        /// The receiver is away, and the value is to be kept until it returns.
        case away
    }

    private struct State {
        var lanes: Lanes
        var isAway = false
        /// How often it was said whether the receiver is away.
        var changes: UInt64 = 0
    }

    private let state: Locked<State>
    private let deliver: @Sendable (ElementDefinition, ElementValue) async -> Delivery
    private let wishes: AsyncStream<Void>
    private let wish: AsyncStream<Void>.Continuation

    init(_ options: BridgeOptions, deliver: @escaping @Sendable (ElementDefinition, ElementValue) async -> Delivery) {
        state = Locked(State(lanes: Lanes(interval: options.interval, limit: options.queueLimit)))
        self.deliver = deliver
        (wishes, wish) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether nothing can be delivered now.
    var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set {
            state.withLock { state in
                state.isAway = newValue
                state.changes += 1
            }
            wish.yield()
        }
    }

    /// Whether values of the element wait.
    func holds(_ element: ElementDefinition) -> Bool { state.withLock { $0.lanes.holds(element) } }

    /// Adds a value.
    ///
    /// - Returns: `false` if too many wait, and it was not taken.
    func add(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        let isTaken = state.withLock { $0.lanes.add(value, of: element) }
        if isTaken { wish.yield() }
        return isTaken
    }

    /// Drops what waits of an element.
    func drop(_ element: ElementDefinition) { state.withLock { $0.lanes.drop(element) } }

    /// Delivers until the task is cancelled.
    func run() async -> Bool {
        var timer: Task<Void, Never>?
        for await _ in wishes {
            timer?.cancel()
            if let opening = await deliverAll() {
                timer = Task { [wish] in
                    await Delay.wait(ContinuousClock.now.duration(to: opening))
                    // A cancelled one has a successor, which it would cancel in turn.
                    if !Task.isCancelled { wish.yield() }
                }
            }
        }
        timer?.cancel()
        return true
    }

    /// Delivers what may go now.
    ///
    /// - Returns: when more may go.
    private func deliverAll() async -> Lanes.Instant? {
        while !Task.isCancelled {
            let (step, changes) = state.withLock { state in
                (state.isAway ? .idle : state.lanes.next(at: .now), state.changes)
            }
            switch step {
            case .idle: return nil
            case .wait(let opening): return opening
            case .send(let element, let value):
                guard await deliver(element, value) == .away else { continue }
                state.withLock { state in
                    state.lanes.putBack(value, of: element)
                    // Unless it has returned in the meantime.
                    if state.changes == changes { state.isAway = true }
                }
            }
        }
        return nil
    }
}
