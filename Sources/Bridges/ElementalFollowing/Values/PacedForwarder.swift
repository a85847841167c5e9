package import Elemental
internal import NIOPosix
internal import Support

/// Forwards the values of one direction, one at a time, limited by the interval per element.
package final class PacedForwarder: Sendable {
    package enum Delivery {
        case done
        /// The receiver is away; keep the value until it returns.
        case away
    }

    private struct State {
        var lanes: Lanes
        var isAway = false
        /// How often `isAway` was set.
        var changes: UInt64 = 0
    }

    private let state: Locked<State>
    private let deliver: @Sendable (ElementDefinition, ElementValue) async -> Delivery
    private let now: @Sendable () -> Lanes.Instant
    private let changed = Latch()

    /// - Parameters:
    ///   - limit: the maximum number of waiting values of one element that is not marked latest.
    ///   - byteLimit: the maximum bytes of the waiting values of all these elements together; the newest ones of
    ///     elements marked latest have ``Lanes/newestShare`` times as many.
    ///   - now: the clock, which tests replace.
    package init(
        interval: Duration, limit: Int, byteLimit: Int, now: @escaping @Sendable () -> Lanes.Instant = { .now },
        deliver: @escaping @Sendable (ElementDefinition, ElementValue) async -> Delivery
    ) {
        state = Locked(State(lanes: Lanes(interval: interval, keeping: .all(limit: limit, byteLimit: byteLimit))))
        self.deliver = deliver
        self.now = now
    }

    package var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set {
            state.withLock { state in
                state.isAway = newValue
                state.changes += 1
            }
            changed.open()
        }
    }

    package func holds(_ element: ElementDefinition) -> Bool { state.withLock { $0.lanes.holds(element) } }

    /// - Returns: `false` if too many are waiting and the value was not accepted.
    package func add(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        let isTaken = state.withLock { $0.lanes.add(value, of: element) }
        if isTaken { changed.open() }
        return isTaken
    }

    package func drop(_ element: ElementDefinition) { state.withLock { $0.lanes.drop(element) } }

    package func run() async {
        var isClosed = false
        while !Task.isCancelled {
            let time = now()
            let (step, changes) = state.withLock { state in
                (state.isAway ? .idle : state.lanes.next(at: time), state.changes)
            }
            if case .send(let element, let value) = step {
                guard await deliver(element, value) == .away else { continue }
                state.withLock { state in
                    state.lanes.putBack(value, of: element)
                    // Unless the receiver has returned in the meantime.
                    if state.changes == changes { state.isAway = true }
                }
            } else if !isClosed {
                // A change after the next check opens it.
                changed.close()
                isClosed = true
            } else {
                isClosed = false
                guard case .wait(let opening) = step else {
                    await changed.wait()
                    continue
                }
                _ = await changed.wait(now().duration(to: opening), on: MultiThreadedEventLoopGroup.singleton.any())
            }
        }
    }
}
