internal import DequeModule
package import Elemental

/// The waiting values of one direction, with a lane for each element: decides which may go when. It has no clock and no
/// thread of its own.
package struct Lanes {
    package typealias Instant = ContinuousClock.Instant

    /// What to do next.
    package enum Step: Equatable {
        case send(ElementDefinition, ElementValue)
        /// Nothing may go before this time.
        case wait(until: Instant)
        /// Nothing is waiting.
        case idle
    }

    private struct Lane {
        let element: ElementDefinition
        /// Each with its number in the order of arrival.
        var values: Deque<(number: UInt64, value: ElementValue)> = []
        /// When the next value may go.
        var opens: Instant?
    }

    private let interval: Duration
    private let limit: Int
    private var lanes: [Int8: Lane] = [:]
    private var last: UInt64 = 0

    /// - Parameters:
    ///   - interval: the shortest time between two values of one element.
    ///   - limit: how many values may wait in one lane.
    package init(interval: Duration, limit: Int) {
        self.interval = interval
        self.limit = max(limit, 1)
    }

    /// Whether values of the element are waiting.
    package func holds(_ element: ElementDefinition) -> Bool { lanes[element.id]?.values.isEmpty == false }

    /// Adds a value. If the element is marked latest, it replaces one that is waiting.
    ///
    /// - Returns: `false` if the lane is full and the value was not accepted.
    package mutating func add(_ value: ElementValue, of element: ElementDefinition) -> Bool {
        var lane = lanes.removeValue(forKey: element.id) ?? Lane(element: element)
        defer { lanes[element.id] = lane }
        if element.latest, let waiting = lane.values.first {
            lane.values[lane.values.startIndex] = (waiting.number, value)
            return true
        }
        guard lane.values.count < limit else { return false }
        last += 1
        lane.values.append((last, value))
        return true
    }

    /// Drops the waiting values of an element.
    package mutating func drop(_ element: ElementDefinition) { lanes[element.id]?.values.removeAll() }

    /// Returns a value that could not be delivered to the front of its lane, unless a newer one replaces it.
    package mutating func putBack(_ value: ElementValue, of element: ElementDefinition) {
        guard var lane = lanes.removeValue(forKey: element.id) else { return }
        defer { lanes[element.id] = lane }
        lane.opens = nil
        if element.latest, !lane.values.isEmpty { return }
        lane.values.prepend((0, value))
    }

    /// The oldest value that may go now.
    package mutating func next(at now: Instant) -> Step {
        var oldest: (id: Int8, number: UInt64)?
        var opening: Instant?
        for (id, lane) in lanes {
            guard let first = lane.values.first else { continue }
            if let opens = lane.opens, opens > now {
                opening = min(opening ?? opens, opens)
            } else if first.number <= oldest?.number ?? .max {
                oldest = (id, first.number)
            }
        }
        guard let oldest, let element = lanes[oldest.id]?.element,
            let value = lanes[oldest.id]?.values.popFirst()?.value
        else { return opening.map { .wait(until: $0) } ?? .idle }
        if interval > .zero { lanes[oldest.id]?.opens = now + interval }
        return .send(element, value)
    }
}
