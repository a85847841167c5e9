import ElementalWire
import Histogram
import Support

/// The round-trip times of a run.
package struct LatencyReport: Sendable {
    package let transport: Transport
    package let via: Via
    package private(set) var count = 0
    package internal(set) var load: LoadReport?
    /// How long messages took in each direction; `nil` for pings, which do not measure it.
    package var oneWay: OneWayTimes?
    /// Round trips that were not answered in time.
    package private(set) var lost = 0

    /// Nanoseconds, in three significant digits.
    private(set) var histogram: Histogram<UInt64>

    /// The longest time that is recorded exactly: a minute.
    private static let longest: UInt64 = 60_000_000_000

    package init(transport: Transport, via: Via) {
        self.transport = transport
        self.via = via
        histogram = Histogram(highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three)
    }

    /// Records an answered round trip.
    package mutating func record(_ time: Duration) { record(nanoseconds: UInt64(clamping: time.nanoseconds)) }

    mutating func record(nanoseconds: UInt64) {
        _ = histogram.record(min(max(1, nanoseconds), Self.longest))
        count += 1
    }

    package mutating func recordLosses(_ count: Int) { lost += count }

    // All of these are microseconds.

    package func percentile(_ percent: Double) -> Double { Double(histogram.valueAtPercentile(percent)) / 1000 }

    package var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1000 }
    package var minimum: Double { count == 0 ? 0 : Double(histogram.min) / 1000 }
    package var mean: Double { count == 0 ? 0 : histogram.mean / 1000 }
}

extension LatencyReport {
    /// The percentiles, and a histogram of the times in steps of the square root of 2, as text.
    package var lines: [String] {
        var lines = ["\(count) round trips over \(transport.rawValue) by \(via.title), \(lost) lost"]
        if let load { lines.append(load.line) }
        if let oneWay {
            let both = { (time: (Double) -> Double) in
                "\(Self.tenths(time(50))) µs (p50), \(Self.tenths(time(99))) (p99)"
            }
            let ways = "out \(both(oneWay.out)), back \(both(oneWay.back))"
            lines.append("one way, ± \(Self.tenths(oneWay.error)) µs: \(ways)")
        }
        guard count > 0 else { return lines }
        for percent in [0.0, 50, 75, 90, 99, 99.9, 99.99, 100] {
            let time = percent == 0 ? minimum : percent == 100 ? maximum : percentile(percent)
            lines.append("  \(Self.left("\(percent) %", 9)) \(Self.right(Self.tenths(time), 12)) µs")
        }
        lines.append("  \(Self.left("mean", 9)) \(Self.right(Self.tenths(mean), 12)) µs")
        return lines + bars
    }

    /// A bar for each step, as long as its share.
    private var bars: [String] {
        let first = max(1, minimum.rounded(.down))
        var edges = [first]
        while let last = edges.last, last <= maximum { edges.append(last * 2.0.squareRoot()) }
        var counts = [Int](repeating: 0, count: edges.count - 1)
        for entry in histogram.recordedValues() {
            let time = Double(entry.value) / 1000
            let step = edges.lastIndex { $0 <= time } ?? 0
            counts[min(step, counts.count - 1)] += Int(entry.count)
        }
        let most = max(1, counts.max() ?? 1)
        let label = { (edge: Double) in Self.right(Self.tenths(edge), 10) }
        return zip(edges, counts).map { edge, count in
            let width = count == 0 ? 0 : max(1, count * 50 / most)
            let bar = String(repeating: "#", count: width)
            return "  \(label(edge)) µs \(Self.left("|\(bar)", 52))\(count == 0 ? "" : " \(count)")"
        }
    }

    /// With one decimal.
    static func tenths(_ value: Double) -> String {
        let tenths = Int((value.magnitude * 10).rounded())
        return "\(value < 0 ? "-" : "")\(tenths / 10).\(tenths % 10)"
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
