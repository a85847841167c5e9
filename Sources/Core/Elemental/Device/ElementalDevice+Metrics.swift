import Support

extension ElementalDevice: MetricsSource {
    /// Starts reporting the statistics of a connected device, until it ends.
    func beginMetrics() {
        guard let metrics else { return }
        metrics.reporter.begin(self, as: metrics.key)
    }

    func endMetrics() { metrics?.reporter.end(self) }

    var metricsSample: MetricsSample {
        var sample = MetricsSample(statistics: statistics)
        state.withLock { state in
            sample.roundTrips = state.inbound.roundTripCount
            sample.reconnections = state.reconnectionCount
        }
        return sample
    }

    var metricsAtEnd: MetricsSample? {
        get { state.withLock { $0.metricsAtEnd } }
        set { state.withLock { $0.metricsAtEnd = newValue } }
    }
}
