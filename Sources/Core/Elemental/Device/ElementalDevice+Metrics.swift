import Support

extension ElementalDevice: MetricsSource {
    /// Starts reporting the statistics of a connected device, until it ends.
    func beginMetrics() {
        if let metrics { MetricsReporter.shared.begin(self, for: metrics) }
    }

    func endMetrics() { if metrics != nil { MetricsReporter.shared.end(self) } }

    func takeMetrics() -> (now: MetricsSample, before: MetricsSample) {
        let statistics = statistics
        return state.withLock { state in
            var now = MetricsSample(statistics)
            now.reconnections = state.reconnectionCount
            now.roundTrips = state.inbound.roundTripCount
            defer { state.metricsTaken = now }
            return (now, state.metricsTaken)
        }
    }
}
