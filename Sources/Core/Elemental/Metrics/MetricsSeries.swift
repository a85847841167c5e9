import CoreMetrics
import Support

/// The program's backend, and the dimensions of the metrics. The clients of a service share an account: they choose
/// their names, so there could be any number of them.
struct MetricsAccount: Sendable, Hashable {
    fileprivate let factory: any MetricsFactory
    /// Distinguishes backends.
    nonisolated(unsafe) private let identity: AnyObject
    /// The service's name, empty if the client connected by host and port; the name of the service's instance, or its
    /// host and port; and the role. None is called `instance`, a label that Prometheus itself sets.
    fileprivate let dimensions: [(String, String)]

    init(_ factory: any MetricsFactory, service: String, device: String, role: String) {
        self.factory = factory
        identity = factory as AnyObject
        dimensions = [("service", service), ("device", device), ("role", role)]
    }

    /// `nil` if the program has no backend for metrics. Call it in the program's task, which may have a backend of its
    /// own.
    static func current(service: String, device: String, role: String) -> MetricsAccount? {
        let factory = MetricsSystem.factory
        guard !(factory is NOOPMetricsHandler) else { return nil }
        return MetricsAccount(factory, service: service, device: device, role: role)
    }

    static func == (a: MetricsAccount, b: MetricsAccount) -> Bool {
        a.identity === b.identity && a.dimensions.elementsEqual(b.dimensions, by: ==)
    }

    func hash(into hasher: inout Hasher) { for (_, value) in dimensions { hasher.combine(value) } }
}

/// The counters, the gauge and the timer of one account. Only one task uses them at a time.
final class MetricsSeries: Sendable {
    /// In the order of ``MetricsSample/counts``.
    private let counters: [Counter]
    private let connections: Gauge
    private let roundTrip: CoreMetrics.Timer

    init(_ account: MetricsAccount) {
        let (factory, dimensions) = (account.factory, account.dimensions)
        counters = MetricsSample.counts.map { count in
            let reason = count.reason.map { [("reason", $0)] } ?? []
            return Counter(label: "elemental_\(count.name)_total", dimensions: dimensions + reason, factory: factory)
        }
        connections = Gauge(label: "elemental_connections", dimensions: dimensions, factory: factory)
        roundTrip = Timer(
            label: "elemental_round_trip_seconds", dimensions: dimensions, preferredDisplayUnit: .seconds,
            factory: factory)
    }

    func report(_ report: MetricsReport) {
        for (counter, count) in zip(counters, MetricsSample.counts) {
            let difference = report.counted[keyPath: count.path]
            if difference > 0 { counter.increment(by: difference) }
        }
        connections.record(report.connections)
        for time in report.roundTrips { roundTrip.recordNanoseconds(time.nanoseconds) }
    }

    func destroy() {
        for counter in counters { counter.destroy() }
        connections.destroy()
        roundTrip.destroy()
    }
}

/// What to report of an account since the last report.
struct MetricsReport: Sendable {
    var counted = MetricsSample()
    var connections = 0
    /// The newest round trip of each device that has measured one.
    var roundTrips: [Duration] = []

    mutating func add(_ sample: (now: MetricsSample, before: MetricsSample)) {
        let (now, before) = sample
        counted.add(now, since: before)
        if now.roundTrips > before.roundTrips, let time = now.statistics.roundTripTime { roundTrips.append(time) }
    }
}

/// The counts of a device at one moment, or the sum of what several devices have counted since an earlier moment.
package struct MetricsSample: Sendable {
    package var statistics: DeviceStatistics
    var reconnections = 0
    /// How many round trips were measured.
    var roundTrips = 0

    package init(_ statistics: DeviceStatistics = DeviceStatistics()) { self.statistics = statistics }

    package mutating func add(_ now: MetricsSample, since before: MetricsSample = MetricsSample()) {
        for count in Self.counts {
            self[keyPath: count.path] += max(0, now[keyPath: count.path] - before[keyPath: count.path])
        }
    }

    /// A count that is reported as a counter.
    package struct Count: Sendable {
        package let path: WritableKeyPath<MetricsSample, Int> & Sendable
        let name: String
        package var reason: String?
    }

    package static let counts = [
        Count(path: \.statistics.messagesReceived, name: "messages_received"),
        Count(path: \.statistics.messagesSent, name: "messages_sent"),
        Count(path: \.statistics.bytesReceived, name: "bytes_received"),
        Count(path: \.statistics.bytesSent, name: "bytes_sent"),
        Count(path: \.statistics.messagesMalformed, name: "messages_dropped", reason: "malformed"),
        Count(path: \.statistics.messagesUnknown, name: "messages_dropped", reason: "unknown"),
        Count(path: \.statistics.messagesRejected, name: "messages_dropped", reason: "rejected"),
        Count(path: \.statistics.messagesReplaced, name: "messages_dropped", reason: "replaced"),
        Count(path: \.statistics.datagramsDropped, name: "messages_dropped", reason: "datagram"),
        Count(path: \.statistics.messagesOutdated, name: "messages_dropped", reason: "outdated"),
        Count(path: \.statistics.messagesOverrun, name: "messages_dropped", reason: "overrun"),
        Count(path: \.statistics.datagramsForged, name: "messages_dropped", reason: "forged"),
        Count(path: \.reconnections, name: "reconnections"),
    ]
}
