internal import DequeModule
package import Elemental

/// The waiting values of one direction, with a lane for each element: decides which may go when. It has no clock and no
/// thread of its own.
package struct Lanes {
    package typealias Instant = ContinuousClock.Instant

    /// What waits in a lane.
    package enum Keeping: Sendable {
        /// The newest value of each element.
        case newest
        /// Up to so many values of each element, and bytes of all, in the order in which they came; of an element marked
        /// latest the newest.
        case all(limit: Int, byteLimit: Int)
    }

    /// What to do next.
    package enum Step: Equatable {
        case send(ElementDefinition, ElementValue)
        /// Nothing may go before this time.
        case wait(until: Instant)
        /// Nothing is waiting.
        case idle
    }

    private struct Lane {
        var element: ElementDefinition
        /// Each with its number in the order of arrival, and the bytes that count.
        var values: Deque<(number: UInt64, value: ElementValue, byteCount: Int)> = []
    }

    /// What decides whether a lane is next, apart from the values: all lanes are looked at for each that goes.
    private struct Head {
        /// The number of the first value; ``none`` if there is none.
        var number = none
        /// When it may go.
        var opens: Instant?

        static let none = UInt64.max
    }

    private let interval: Duration
    private let keeping: Keeping
    private var lanes: [Lane] = []
    /// Of each lane.
    private var heads: [Head] = []
    /// Positions in ``lanes`` by identifier; ``unused`` where no value of the element came yet.
    private var positions = [UInt8](repeating: unused, count: 128)
    private var last: UInt64 = 0
    /// Of the values that wait in their order.
    private var byteCount = 0

    private static let unused = UInt8.max

    /// - Parameters:
    ///   - interval: the shortest time between two values of one element.
    ///   - keeping: what waits in a lane.
    package init(interval: Duration, keeping: Keeping) {
        self.interval = interval
        self.keeping = keeping
    }

    /// Whether values of the element are waiting.
    package func holds(_ element: ElementDefinition) -> Bool {
        position(of: element).map { heads[$0].number != Head.none } ?? false
    }

    /// Adds a value. Where only the newest is kept, it replaces the one that is waiting, in its place.
    ///
    /// - Returns: `false` if the lane is full and the value was not accepted.
    package mutating func add(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        let position = position(for: element)
        if keepsNewest(of: element), let waiting = lanes[position].values.first {
            lanes[position].values[lanes[position].values.startIndex] = (waiting.number, value, 0)
            return true
        }
        let size = size(of: value, element)
        if case .all(let limit, let byteLimit) = keeping {
            guard lanes[position].values.count < max(limit, 1), byteCount == 0 || byteCount + size <= byteLimit else {
                return false
            }
        }
        last += 1
        lanes[position].values.append((last, value, size))
        byteCount += size
        noteFirst(position)
        return true
    }

    /// Drops the waiting values of an element.
    package mutating func drop(_ element: ElementDefinition) {
        guard let position = position(of: element) else { return }
        for value in lanes[position].values { byteCount -= value.byteCount }
        lanes[position].values.removeAll()
        noteFirst(position)
    }

    /// Returns a value that could not be delivered to the front of its lane, unless a newer one replaces it.
    package mutating func putBack(_ value: ElementValue, of element: ElementDefinition) {
        guard let position = position(of: element) else { return }
        heads[position].opens = nil
        if keepsNewest(of: element), !lanes[position].values.isEmpty { return }
        let size = size(of: value, element)
        lanes[position].values.prepend((0, value, size))
        byteCount += size
        noteFirst(position)
    }

    /// The next value of the element may go at once.
    package mutating func open(_ element: ElementDefinition) {
        if let position = position(of: element) { heads[position].opens = nil }
    }

    /// The oldest value that may go now.
    package mutating func next(at now: Instant) -> Step {
        var oldest: (position: Int, number: UInt64)?
        var opening: Instant?
        for position in heads.indices where heads[position].number != Head.none {
            let head = heads[position]
            if let opens = head.opens, opens > now {
                opening = min(opening ?? opens, opens)
            } else if head.number <= oldest?.number ?? .max {
                oldest = (position, head.number)
            }
        }
        guard let oldest, let (_, value, size) = lanes[oldest.position].values.popFirst() else {
            return opening.map { .wait(until: $0) } ?? .idle
        }
        byteCount -= size
        noteFirst(oldest.position)
        if interval > .zero { heads[oldest.position].opens = now + interval }
        return .send(lanes[oldest.position].element, value)
    }

    private mutating func noteFirst(_ position: Int) {
        heads[position].number = lanes[position].values.first?.number ?? Head.none
    }

    /// The bytes that a value counts for: none where a lane keeps only the newest value of each element.
    private func size(of value: ElementValue, _ element: ElementDefinition) -> Int {
        keepsNewest(of: element) ? 0 : value.wireByteCount
    }

    private func keepsNewest(of element: ElementDefinition) -> Bool {
        if case .newest = keeping { true } else { element.latest }
    }

    private func position(of element: ElementDefinition) -> Int? {
        let position = positions[Int(element.id)]
        return position == Self.unused ? nil : Int(position)
    }

    /// The lane of an element, which is made where there is none. Another element with that identifier takes it over.
    private mutating func position(for element: ElementDefinition) -> Int {
        if let position = position(of: element) {
            if lanes[position].element !== element { lanes[position].element = element }
            return position
        }
        positions[Int(element.id)] = UInt8(lanes.count)
        lanes.append(Lane(element: element))
        heads.append(Head())
        return lanes.count - 1
    }
}
