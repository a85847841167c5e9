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

/// Counts of a device or of several, at one moment or since an earlier one.
struct MetricsSample: Sendable {
    var messagesReceived = 0
    var messagesSent = 0
    var bytesReceived = 0
    var bytesSent = 0
    var malformed = 0
    var unknown = 0
    var rejected = 0
    var replaced = 0
    var datagrams = 0
    var outdated = 0
    var overrun = 0
    var forged = 0
    var reconnections = 0
    /// How many round trips were measured.
    var roundTrips = 0
    /// The newest of them.
    var roundTripTime: Duration?

    init() {}

    /// The counts that become counters.
    static let counts: [WritableKeyPath<MetricsSample, Int> & Sendable] = [
        \.messagesReceived, \.messagesSent, \.bytesReceived, \.bytesSent, \.malformed, \.unknown, \.rejected,
        \.replaced, \.datagrams, \.outdated, \.overrun, \.forged, \.reconnections,
    ]

    /// Adds what has been counted since `before`.
    mutating func add(_ now: MetricsSample, since before: MetricsSample) {
        for count in Self.counts { self[keyPath: count] += max(0, now[keyPath: count] - before[keyPath: count]) }
    }
}
