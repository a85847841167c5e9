public import ElementalWire
import Histogram

/// The round-trip times of a run.
public struct LatencyReport: Sendable {
    /// Which way the messages travelled.
    public let transport: Transport
    /// Round trips that were answered.
    public private(set) var count = 0
    /// Round trips that were not answered in time.
    public private(set) var lost = 0

    /// Nanoseconds, in three significant digits.
    private var histogram: Histogram<UInt64>

    /// The longest time told apart from longer ones: a minute.
    private static let longest: UInt64 = 60_000_000_000

    /// A report of nothing yet.
    public init(transport: Transport) {
        self.transport = transport
        histogram = Histogram(highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .three)
    }

    /// Takes in an answered round trip.
    public mutating func record(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        _ = histogram.record(min(max(1, UInt64(clamping: nanoseconds)), Self.longest))
        count += 1
    }

    /// Takes in a round trip that was not answered in time.
    public mutating func recordLoss() { lost += 1 }

    /// The time within which that share of the round trips was answered, in microseconds.
    public func percentile(_ percent: Double) -> Double { Double(histogram.valueAtPercentile(percent)) / 1000 }

    /// The longest round trip, in microseconds.
    public var maximum: Double { count == 0 ? 0 : Double(histogram.max) / 1000 }
    /// The shortest round trip, in microseconds.
    public var minimum: Double { count == 0 ? 0 : Double(histogram.min) / 1000 }
    /// The mean of the round trips, in microseconds.
    public var mean: Double { count == 0 ? 0 : histogram.mean / 1000 }
}

extension LatencyReport {
    /// The percentiles and a histogram of the times in doubling steps, for a person.
    public var lines: [String] {
        var lines = ["\(count) round trips over \(transport.rawValue), \(lost) lost"]
        guard count > 0 else { return lines }
        for percent in [0.0, 50, 75, 90, 99, 99.9, 99.99, 100] {
            let time = percent == 0 ? minimum : percent == 100 ? maximum : percentile(percent)
            lines.append("  \(Self.left("\(percent) %", 9)) \(Self.right(Self.microseconds(time), 12)) µs")
        }
        lines.append("  \(Self.left("mean", 9)) \(Self.right(Self.microseconds(mean), 12)) µs")
        return lines + bars
    }

    /// Steps of the square root of 2, each with a bar as long as its share.
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
        let label = { (edge: Double) in Self.right(Self.microseconds(edge), 10) }
        return zip(edges, counts).map { edge, count in
            let width = count == 0 ? 0 : max(1, count * 50 / most)
            let bar = String(repeating: "#", count: width)
            return "  \(label(edge)) µs \(Self.left("|\(bar)", 52))\(count == 0 ? "" : " \(count)")"
        }
    }

    /// With one decimal.
    static func microseconds(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
