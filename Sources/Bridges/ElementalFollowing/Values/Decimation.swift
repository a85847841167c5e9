internal import DequeModule
package import ElementalWire

/// Reduces many values to a few points of a plot, which include the minimum and the maximum.
///
/// Values are gathered in intervals of time. Of each interval the minimum and the maximum of each component remain, in
/// their order. When there are too many points, the intervals become twice as long. The newest value is always a point.
/// Memory depends only on the number of points.
package struct Decimation: Sendable {
    package struct Point: Sendable, Hashable {
        /// The value's index, counted from 0. A point of a vector may combine components of several values.
        package fileprivate(set) var number: Int
        /// In microseconds.
        package fileprivate(set) var time: Int64
        /// A lane for each component; NaN in unused lanes.
        package fileprivate(set) var numbers: SIMD4<Double>
        /// Whether values are missing before it.
        package fileprivate(set) var isInterrupted: Bool
    }

    fileprivate struct Interval {
        let start: Int64
        var first: Point
        var second: Point?

        var count: Int { second == nil ? 1 : 2 }
        var last: Point { second ?? first }
    }

    /// Two intervals of two points, one of them for negative times, and the newest value.
    private static let minimumCount = 5
    private static let longest: Int64 = 1 << 61

    /// The maximum number of points.
    package let maximumCount: Int
    /// The number of points in the intervals. The newest value is not counted unless it is one of them.
    private var gatheredCount = 0
    private var intervals: Deque<Interval> = []
    /// The length of an interval in microseconds, a power of two.
    private var length: Int64 = 1
    private var newest: Point?
    private var nextNumber = 0
    private var isInterrupted = false

    /// - Parameter maximumCount: at least 5.
    package init(maximumCount: Int) { self.maximumCount = max(maximumCount, Self.minimumCount) }

    package var isEmpty: Bool { intervals.isEmpty }

    package var count: Int { gatheredCount + (lone == nil ? 0 : 1) }

    /// The points in the order of their times.
    package var points: [Point] {
        var points: [Point] = []
        points.reserveCapacity(count)
        for interval in intervals {
            points.append(interval.first)
            if let second = interval.second { points.append(second) }
        }
        if let lone { points.append(lone) }
        return points
    }

    /// The newest value, if it is not a point of an interval.
    private var lone: Point? {
        guard let newest, let last = intervals.last?.last, newest.number > last.number else { return nil }
        return newest
    }

    /// Adds a value after all others. A time before that of the previous value is replaced by it.
    package mutating func add(_ numbers: SIMD4<Double>, at time: Int64) {
        let time = max(min(max(time, -Self.longest), Self.longest - 1), newest?.time ?? .min)
        let point = Point(number: nextNumber, time: time, numbers: numbers, isInterrupted: isInterrupted && !isEmpty)
        nextNumber += 1
        isInterrupted = false
        newest = point
        gather(point)
        while count > maximumCount, length < Self.longest { lengthen() }
    }

    /// Marks a gap: values are missing before the next one.
    package mutating func interrupt() { isInterrupted = true }

    /// Removes the intervals that ended before a time.
    package mutating func removeAll(before time: Int64) {
        while let first = intervals.first, first.last.time < time {
            // The newest value may be later.
            if intervals.count == 1, let newest, newest.time >= time { return }
            gatheredCount -= first.count
            intervals.removeFirst()
        }
    }

    private mutating func gather(_ point: Point) {
        let start = point.time & -length
        if let last = intervals.indices.last, intervals[last].start & -length == start {
            let before = intervals[last].count
            intervals[last].gather(point)
            gatheredCount += intervals[last].count - before
        } else {
            intervals.append(Interval(start: start, first: point))
            gatheredCount += 1
        }
    }

    private mutating func lengthen() {
        length *= 2
        let shorter = intervals
        intervals = []
        gatheredCount = 0
        for interval in shorter {
            gather(interval.first)
            if let second = interval.second { gather(second) }
        }
    }
}

extension Decimation.Interval {
    /// Adds a later point. In each lane the two points hold the minimum and the maximum so far, in their order.
    mutating func gather(_ point: Decimation.Point) {
        // A gap within the interval is moved to its beginning.
        if point.isInterrupted { first.isInterrupted = true }
        guard var second else {
            if !point.numbers.isSame(as: first.numbers) {
                second = point
                second?.isInterrupted = false
                complete()
            }
            return
        }
        let old = second
        var (hasChanged, hasMoved) = (false, true)
        for lane in 0..<4 where !point.numbers[lane].isNaN {
            let (one, other, number) = (first.numbers[lane], second.numbers[lane], point.numbers[lane])
            let isNew = one.isNaN
            guard isNew || number < min(one, other) || number > max(one, other) else {
                hasMoved = false
                continue
            }
            let kept = isNew ? number : number > max(one, other) ? min(one, other) : max(one, other)
            hasChanged = true
            if kept == one || isNew { hasMoved = false }
            first.numbers[lane] = kept
            second.numbers[lane] = number
        }
        guard hasChanged else { return }
        (second.time, second.number) = (point.time, point.number)
        if hasMoved { (first.time, first.number) = (old.time, old.number) }
        self.second = second
    }

    /// Copies each component that one of the two points lacks from the other.
    private mutating func complete() {
        guard var second else { return }
        for lane in 0..<4 {
            if first.numbers[lane].isNaN { first.numbers[lane] = second.numbers[lane] }
            if second.numbers[lane].isNaN { second.numbers[lane] = first.numbers[lane] }
        }
        self.second = second
    }
}

extension SIMD4<Double> {
    fileprivate func isSame(as other: Self) -> Bool {
        indices.allSatisfy { self[$0] == other[$0] || self[$0].isNaN && other[$0].isNaN }
    }
}

extension ElementDefinition {
    /// The number of numbers that a value has in a plot: 1, or a vector's components; `nil` if the element is not
    /// plotted.
    package var plottedCount: Int? {
        guard choices.isEmpty else { return nil }
        return type.isNumeric ? 1 : type.isVector ? type.floatCount : nil
    }
}

extension ElementValue {
    /// The value's numbers in a plot, NaN in the other lanes; `nil` if it is neither a number nor a vector.
    package var plottedNumbers: SIMD4<Double>? {
        switch self {
        case .float2(let value): SIMD4(Double(value.x), Double(value.y), .nan, .nan)
        case .float3(let value): SIMD4(Double(value.x), Double(value.y), Double(value.z), .nan)
        case .float4(let value): SIMD4(value)
        default: numericValue.map { SIMD4($0, .nan, .nan, .nan) }
        }
    }
}
