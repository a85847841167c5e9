import Elemental
import NIOCore

/// The values that go one way, a lane for each element: which may go when. No clock and no thread of its own.
struct Lanes {
    typealias Instant = ContinuousClock.Instant

    /// What is to be done.
    enum Step: Equatable {
        case send(ElementDefinition, ElementValue)
        /// Nothing may go before that time.
        case wait(until: Instant)
        /// Nothing is there.
        case idle
    }

    private struct Lane {
        let element: ElementDefinition
        /// With the number of each in the order in which they came.
        var values: CircularBuffer<(number: UInt64, value: ElementValue)> = []
        /// When the next may go.
        var opens: Instant?
    }

    private let interval: Duration
    private let limit: Int
    private var lanes: [Int8: Lane] = [:]
    private var last: UInt64 = 0

    /// - Parameters:
    ///   - interval: the shortest time between two values of one element.
    ///   - limit: the most values that wait in one lane.
    init(interval: Duration, limit: Int) {
        self.interval = interval
        self.limit = max(limit, 1)
    }

    /// Whether values of the element wait.
    func holds(_ element: ElementDefinition) -> Bool { lanes[element.id]?.values.isEmpty == false }

    /// Adds a value. Of an element marked latest it takes the place of one that waits.
    ///
    /// - Returns: `false` if the lane is full, and the value not taken.
    mutating func add(_ value: ElementValue, of element: ElementDefinition) -> Bool {
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

    /// Drops what waits of an element.
    mutating func drop(_ element: ElementDefinition) { lanes[element.id]?.values.removeAll() }

    /// Takes back a value that could not be handed on: it goes first again, unless a newer one is enough.
    mutating func putBack(_ value: ElementValue, of element: ElementDefinition) {
        guard var lane = lanes.removeValue(forKey: element.id) else { return }
        defer { lanes[element.id] = lane }
        lane.opens = nil
        if element.latest, !lane.values.isEmpty { return }
        lane.values.prepend((0, value))
    }

    /// The oldest value that may go now.
    mutating func next(at now: Instant) -> Step {
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
