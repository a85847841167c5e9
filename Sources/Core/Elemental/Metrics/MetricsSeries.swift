import CoreMetrics
import Support

/// The metrics of one account in the program's backend. Only one task at a time uses it.
final class MetricsSeries: Sendable {
    /// In the order of ``MetricsSample/counts``.
    private let counters: [Counter]
    private let connections: Gauge
    private let roundTrip: CoreMetrics.Timer

    init(_ key: MetricsAccount.Key, in factory: any MetricsFactory) {
        let dimensions = key.dimensions
        func counter(_ name: String) -> Counter {
            Counter(label: "elemental_\(name)_total", dimensions: dimensions, factory: factory)
        }
        func dropped(_ reason: String) -> Counter {
            Counter(
                label: "elemental_messages_dropped_total", dimensions: dimensions + [("reason", reason)],
                factory: factory)
        }
        counters = [
            counter("messages_received"), counter("messages_sent"), counter("bytes_received"), counter("bytes_sent"),
            dropped("malformed"), dropped("unknown"), dropped("rejected"), dropped("replaced"), dropped("datagram"),
            dropped("outdated"), dropped("overrun"), dropped("forged"), counter("reconnections"),
        ]
        connections = Gauge(label: "elemental_connections", dimensions: dimensions, factory: factory)
        roundTrip = Timer(
            label: "elemental_round_trip_seconds", dimensions: dimensions, preferredDisplayUnit: .seconds,
            factory: factory)
    }

    /// Hands the backend what has been counted since the last time.
    func report(_ report: MetricsReport) {
        for (counter, count) in zip(counters, MetricsSample.counts) {
            let difference = report.counted[keyPath: count]
            if difference > 0 { counter.increment(by: difference) }
        }
        connections.record(report.connections)
        for time in report.roundTrips { roundTrip.recordNanoseconds(time.nanoseconds) }
    }

    /// The metrics are not needed any more.
    func destroy() {
        for counter in counters { counter.destroy() }
        connections.destroy()
        roundTrip.destroy()
    }
}

/// What there is to tell of an account.
struct MetricsReport: Sendable {
    /// What its devices have counted since the last report.
    var counted = MetricsSample()
    /// How many of its devices are connected.
    var connections = 0
    /// The newest round trip of each device that has measured one since the last report.
    var roundTrips: [Duration] = []

    /// Adds what a device has counted since `before`.
    mutating func add(_ sample: MetricsSample, since before: MetricsSample) {
        counted.add(sample, since: before)
        if sample.roundTrips > before.roundTrips, let time = sample.roundTripTime { roundTrips.append(time) }
    }
}
