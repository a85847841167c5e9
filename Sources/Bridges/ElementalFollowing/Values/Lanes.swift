internal import DequeModule
package import Elemental

/// The waiting values of one direction, with a lane for each element. It decides which value is sent when, without a
/// clock or a thread of its own.
package struct Lanes {
    package typealias Instant = ContinuousClock.Instant

    package enum Keeping: Sendable {
        /// The newest value of each element. The service's session counts their bytes, so they are not counted here.
        case newest
        /// All values in their order, up to `limit` of each element and `byteLimit` bytes in total. Of elements marked
        /// latest only the newest, in total up to ``newestShare`` times as many bytes.
        case all(limit: Int, byteLimit: Int)

        /// The limits of a bridge, for one service and one direction.
        package static let bridged = Keeping.all(limit: 4096, byteLimit: 1 << 20)
    }

    package enum Step: Equatable {
        case send(ElementDefinition, ElementValue)
        case wait(until: Instant)
        case idle
    }

    private struct Lane {
        var element: ElementDefinition
        /// The values with their numbers in the order of arrival, and their counted bytes.
        var values: Deque<(number: UInt64, value: ElementValue, byteCount: Int)> = []
        /// The first value's number, which shows the oldest of all lanes; ``none`` if the lane is empty.
        var number = none
        /// When the first value may be sent.
        var opens: Instant?

        static let none = UInt64.max
    }

    private let interval: Duration
    private let keeping: Keeping
    private var lanes: [Lane] = []
    private var positions: [Int8: Int] = [:]
    private var last: UInt64 = 0
    /// The bytes of values that wait in their order.
    private var byteCount = 0
    /// The bytes of values of elements marked latest.
    private var newestByteCount = 0

    /// The newest values may take this many times the bytes of the others, since there is only one per element.
    package static let newestShare = 4
    /// Newest values up to this length are not counted and always have room.
    private static let shortByteCount = 256

    /// - Parameter interval: the minimum time between two values of one element.
    package init(interval: Duration, keeping: Keeping) {
        self.interval = interval
        self.keeping = keeping
    }

    /// The counted bytes of all waiting values.
    var waitingByteCount: Int { byteCount + newestByteCount }
    var isEmpty: Bool { waitingCount == 0 }
    private(set) var waitingCount = 0

    package func holds(_ element: ElementDefinition) -> Bool {
        positions[element.id].map { lanes[$0].number != Lane.none } ?? false
    }

    /// Adds a value. If only the newest is kept, it takes the place of the waiting one.
    ///
    /// - Returns: `false` if there is no room and the value was not accepted.
    package mutating func add(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        let position = position(for: element)
        let size = size(of: value, element)
        let waiting = keepsNewest(of: element) ? lanes[position].values.first : nil
        guard hasRoom(for: size, in: position, insteadOf: waiting?.byteCount ?? 0) else { return false }
        if let waiting {
            lanes[position].values[lanes[position].values.startIndex] = (waiting.number, value, size)
            count(size - waiting.byteCount, element)
            return true
        }
        last += 1
        lanes[position].values.append((last, value, size))
        waitingCount += 1
        count(size, element)
        noteFirst(position)
        return true
    }

    package mutating func drop(_ element: ElementDefinition) {
        guard let position = positions[element.id] else { return }
        waitingCount -= lanes[position].values.count
        for value in lanes[position].values { count(-value.byteCount, lanes[position].element) }
        lanes[position].values.removeAll()
        noteFirst(position)
    }

    /// Puts a value that could not be delivered back to the front of its lane, unless a newer one replaces it.
    package mutating func putBack(_ value: ElementValue, of element: ElementDefinition) {
        guard let position = positions[element.id] else { return }
        lanes[position].opens = nil
        if keepsNewest(of: element), !lanes[position].values.isEmpty { return }
        let size = size(of: value, element)
        lanes[position].values.prepend((0, value, size))
        waitingCount += 1
        count(size, element)
        noteFirst(position)
    }

    /// Allows the next value of the element to be sent at once.
    package mutating func open(_ element: ElementDefinition) {
        if let position = positions[element.id] { lanes[position].opens = nil }
    }

    /// Returns the oldest value that may be sent now, or until when to wait.
    package mutating func next(at now: Instant) -> Step {
        var oldest: (position: Int, number: UInt64)?
        var opening: Instant?
        for position in lanes.indices where lanes[position].number != Lane.none {
            let number = lanes[position].number
            if let opens = lanes[position].opens, opens > now {
                opening = min(opening ?? opens, opens)
            } else if number <= oldest?.number ?? .max {
                oldest = (position, number)
            }
        }
        guard let oldest, let (_, value, size) = lanes[oldest.position].values.popFirst() else {
            return opening.map { .wait(until: $0) } ?? .idle
        }
        waitingCount -= 1
        count(-size, lanes[oldest.position].element)
        noteFirst(oldest.position)
        if interval > .zero { lanes[oldest.position].opens = now + interval }
        return .send(lanes[oldest.position].element, value)
    }

    private mutating func noteFirst(_ position: Int) {
        lanes[position].number = lanes[position].values.first?.number ?? Lane.none
    }

    private func size(of value: ElementValue, _ element: ElementDefinition) -> Int {
        if case .newest = keeping { return 0 }
        let size = value.wireByteCount
        return element.latest && size <= Self.shortByteCount ? 0 : size
    }

    private mutating func count(_ change: Int, _ element: ElementDefinition) {
        if element.latest { newestByteCount += change } else { byteCount += change }
    }

    /// Returns whether a value may wait in place of one of `old` bytes. A value that exceeds the limit is accepted
    /// alone.
    private func hasRoom(for size: Int, in position: Int, insteadOf old: Int) -> Bool {
        guard case .all(let limit, let byteLimit) = keeping else { return true }
        if lanes[position].element.latest {
            let others = newestByteCount - old
            return size == 0 || others == 0 || (others + size) / Self.newestShare <= byteLimit
        }
        return lanes[position].values.count < max(limit, 1) && (byteCount == 0 || byteCount + size <= byteLimit)
    }

    private func keepsNewest(of element: ElementDefinition) -> Bool {
        if case .newest = keeping { true } else { element.latest }
    }

    /// Returns the lane of an element, and creates it if necessary. An element replaces another one with the same
    /// identifier.
    private mutating func position(for element: ElementDefinition) -> Int {
        if let position = positions[element.id] {
            if lanes[position].element.latest != element.latest { drop(element) }
            if lanes[position].element !== element { lanes[position].element = element }
            return position
        }
        positions[element.id] = lanes.count
        lanes.append(Lane(element: element))
        return lanes.count - 1
    }
}
