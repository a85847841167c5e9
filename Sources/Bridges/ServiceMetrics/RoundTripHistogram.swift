internal import Support

/// How long round trips took, counted in the buckets of a histogram.
struct RoundTripHistogram: Sendable {
    /// The buckets' upper bounds in nanoseconds, from 50 µs, about the best of a loopback, to 5 s.
    static let bounds: [Int64] = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000,
    ]

    /// The bounds in seconds, as they are written.
    static let boundTexts = bounds.map { MetricsText.number(Double($0) / 1e9) }

    /// How many were at most as long as each bound and longer than the one before; the last for all longer ones.
    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var count = 0
    /// The sum of all, in seconds.
    private(set) var sum = 0.0

    mutating func add(_ duration: Duration) {
        let nanoseconds = max(0, duration.nanoseconds)
        counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
        count += 1
        sum += Double(nanoseconds) / 1e9
    }

    /// Writes the histogram's samples.
    func write(_ name: String, _ labels: MetricLabels, to text: inout MetricsText) {
        var total = 0
        for (position, bound) in Self.boundTexts.enumerated() {
            total += counts[position]
            text.add(name + "_bucket", labels.with("le", bound), total)
        }
        text.add(name + "_bucket", labels.with("le", "+Inf"), count)
        text.add(name + "_sum", labels, MetricsText.number(sum))
        text.add(name + "_count", labels, count)
    }
}
