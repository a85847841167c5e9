internal import DequeModule
public import Elemental
internal import NIOPosix
internal import Support

/// A value of a followed service.
public struct FollowedValue: Sendable {
    /// The service.
    public let key: ServiceKey
    /// The element.
    public let element: ElementDefinition
    /// The value.
    public let value: ElementValue
}

/// Which values wait for a slow consumer.
public enum ValueOrder: Sendable, Hashable {
    /// The newest value of each element.
    case newest
    /// All values of each element in their order; of elements marked latest only the newest. Values for which there is
    /// no room are dropped and counted (``FollowedValues/droppedCount``).
    case inOrder
}

/// The values of followed services, for one consumer at its own pace. A slow consumer delays neither the services nor
/// other consumers. The sequence ends with ``Follower/run()``.
///
/// Services take turns, so that a fast one does not hold up the others. The values of a service that is gone are
/// discarded.
public struct FollowedValues: AsyncSequence, Sendable {
    /// A value with its service and element.
    public typealias Element = FollowedValue
    /// Iterating does not throw.
    public typealias Failure = Never

    let buffer: ValueBuffer

    /// The number of values that were dropped because there was no room.
    public var droppedCount: Int { buffer.droppedCount }

    /// Returns an iterator, which takes each value that it returns out of the buffer.
    public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }

    /// Waits for values. Two iterators share one stream of values.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: ValueBuffer

        /// Returns the next value; `nil` at the end, or when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> FollowedValue? {
            await buffer.next()
        }
    }
}

extension Follower {
    /// Returns the values of all followed services, for one consumer. Call it before ``run()``.
    ///
    /// - Parameters:
    ///   - order: which values wait while the consumer is busy.
    ///   - interval: the minimum time between two values of one element.
    ///   - maximumByteCount: the maximum bytes of all waiting values of the order ``ValueOrder/inOrder``; newest values
    ///     count towards ``FollowerOptions/maximumByteCount`` instead. A single longer value is accepted.
    public func values(
        _ order: ValueOrder = .newest, interval: Duration = .zero, maximumByteCount: Int = 8 << 20
    ) -> FollowedValues {
        let buffer = ValueBuffer(order, interval: interval, maximumByteCount: maximumByteCount)
        onEvent({ buffer.take($0) }, room: { await buffer.waitForRoom() })
        state.withLock { $0.endings.append { buffer.finish() } }
        return FollowedValues(buffer: buffer)
    }
}

final class ValueBuffer: Sendable {
    private struct State {
        var lanes: [ServiceKey: Lanes] = [:]
        /// The services with waiting values, in the order of their turns.
        var turns: Deque<ServiceKey> = []
        var byteCount = 0
        /// The number of waiting values.
        var count = 0
        var droppedCount = 0
        var isFinished = false
    }

    private enum Step {
        case value(FollowedValue)
        case wait(until: Lanes.Instant?)
        case end
    }

    /// The maximum number of waiting values of one element.
    private static let maximumCount = 4096

    private let state = Locked(State())
    private let arrived = Latch()
    /// Open while less than half of the maximum waits.
    private let room = Latch()
    private let order: ValueOrder
    private let interval: Duration
    private let maximumByteCount: Int

    init(_ order: ValueOrder, interval: Duration, maximumByteCount: Int) {
        self.order = order
        self.interval = interval
        self.maximumByteCount = maximumByteCount
        room.open()
    }

    /// Waits until there is room for values of histories, which are not dropped but wait in the service.
    func waitForRoom() async { await room.wait() }

    var droppedCount: Int { state.withLock { $0.droppedCount } }
    /// The bytes of the waiting values.
    var byteCount: Int { state.withLock { $0.byteCount } }
    /// The number of services that have an entry here.
    var serviceCount: Int { state.withLock { $0.lanes.count } }

    func take(_ event: FollowerEvent) {
        switch event {
        case .value(let key, let element, let value, _): add(value, of: element, key)
        case .history(let key, let element, .value(let value)): add(value.value, of: element, key)
        case .state(let key, .gone):
            state.withLock { state in
                if let lanes = state.lanes.removeValue(forKey: key) {
                    state.byteCount -= lanes.waitingByteCount
                    state.count -= lanes.waitingCount
                }
                state.turns.removeAll { $0 == key }
                noteRoom(state)
            }
        default: break
        }
    }

    private func add(_ value: ElementValue, of element: ElementDefinition, _ key: ServiceKey) {
        let isFirst = state.withLock { state in
            guard !state.isFinished else { return false }
            let keeping: Lanes.Keeping =
                order == .newest ? .newest : .all(limit: Self.maximumCount, byteLimit: maximumByteCount)
            guard
                order == .newest || state.byteCount == 0 || state.byteCount + value.wireByteCount <= maximumByteCount
            else {
                state.droppedCount += 1
                return false
            }
            var lanes = state.lanes.removeValue(forKey: key) ?? Lanes(interval: interval, keeping: keeping)
            let (before, count) = (lanes.waitingByteCount, lanes.waitingCount)
            let isTaken = lanes.add(value, of: element)
            state.byteCount += lanes.waitingByteCount - before
            state.count += lanes.waitingCount - count
            state.lanes[key] = lanes
            noteRoom(state)
            if !isTaken { state.droppedCount += 1 }
            if count == 0, isTaken { state.turns.append(key) }
            return count == 0 && isTaken
        }
        if isFirst { arrived.open() }
    }

    private func noteRoom(_ state: State) {
        let isLong = state.byteCount >= maximumByteCount / 2 || state.count >= Self.maximumCount / 2
        if order == .newest || state.isFinished || !isLong { room.open() } else { room.close() }
    }

    func finish() {
        state.withLock { state in
            state.isFinished = true
            noteRoom(state)
        }
        arrived.open()
    }

    func next() async -> FollowedValue? {
        while !Task.isCancelled {
            switch step(at: .now) {
            case .value(let value): return value
            case .end: return nil
            case .wait(nil): await arrived.wait()
            case .wait(let opening?):
                _ = await arrived.wait(
                    Lanes.Instant.now.duration(to: opening), on: MultiThreadedEventLoopGroup.singleton.any())
            }
        }
        return nil
    }

    private func step(at now: Lanes.Instant) -> Step {
        state.withLock { state in
            var opening: Lanes.Instant?
            for _ in 0..<state.turns.count {
                let key = state.turns.removeFirst()
                guard var lanes = state.lanes.removeValue(forKey: key) else { continue }
                let (before, count) = (lanes.waitingByteCount, lanes.waitingCount)
                let step = lanes.next(at: now)
                state.byteCount += lanes.waitingByteCount - before
                state.count += lanes.waitingCount - count
                noteRoom(state)
                if !lanes.isEmpty { state.turns.append(key) }
                state.lanes[key] = lanes
                switch step {
                case .send(let element, let value):
                    return .value(FollowedValue(key: key, element: element, value: value))
                case .wait(let time): opening = min(opening ?? time, time)
                case .idle: break
                }
            }
            if state.isFinished { return .end }
            arrived.close()
            return .wait(until: opening)
        }
    }
}
