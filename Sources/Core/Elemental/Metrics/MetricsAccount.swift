/// What a device's statistics are reported as, and to whom.
struct MetricsAccount: Sendable {
    let reporter: MetricsReporter
    let key: Key

    /// What tells one set of metrics from another. The clients of a service share one: their names are theirs to choose,
    /// and would make metrics without end.
    struct Key: Sendable, Hashable {
        /// Which end this program is.
        enum Role: String {
            case client, service
        }

        /// The service's name, such as `robot`; empty where a client connected by host and port.
        let service: String
        /// The name of the service's instance, or its host and port.
        let device: String
        let role: Role

        /// The dimensions of a metric. The label `instance` belongs to Prometheus, so it is not used.
        var dimensions: [(String, String)] { [("service", service), ("device", device), ("role", role.rawValue)] }
    }

    /// The account of a client's device or a service's; `nil` if the program has no backend for metrics.
    ///
    /// To be called in the task of the program, which may have a backend of its own.
    static func current(service: String, device: String, role: Key.Role) -> MetricsAccount? {
        MetricsReporter.current.map {
            MetricsAccount(reporter: $0, key: Key(service: service, device: device, role: role))
        }
    }
}

extension ElementalDevice {
    /// The device is connected, for the first time or again: its statistics are reported until it ends.
    func beginMetrics() {
        guard let metrics else { return }
        metrics.reporter.begin(self, as: metrics.key)
    }

    /// The device has ended.
    func endMetrics() { metrics?.reporter.end(self) }

    /// What has been counted so far.
    var metricsSample: MetricsSample {
        var sample = MetricsSample(statistics)
        state.withLock { state in
            sample.roundTrips = state.inbound.roundTripCount
            sample.reconnections = state.reconnectionCount
        }
        return sample
    }
}
