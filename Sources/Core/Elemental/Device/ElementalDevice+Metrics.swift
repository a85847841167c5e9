import Support

extension ElementalDevice: MetricsSource {
    /// The device is connected, for the first time or again: its statistics are reported until it ends.
    func beginMetrics() {
        guard let metrics else { return }
        metrics.reporter.begin(self, as: metrics.key)
    }

    /// The device has ended.
    func endMetrics() { metrics?.reporter.end(self) }

    var metricsSample: MetricsSample {
        var sample = MetricsSample(statistics)
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

extension MetricsSample {
    init(_ statistics: DeviceStatistics) {
        messagesReceived = statistics.messagesReceived
        messagesSent = statistics.messagesSent
        bytesReceived = statistics.bytesReceived
        bytesSent = statistics.bytesSent
        malformed = statistics.messagesMalformed
        unknown = statistics.messagesUnknown
        rejected = statistics.messagesRejected
        replaced = statistics.messagesReplaced
        datagrams = statistics.datagramsDropped
        outdated = statistics.messagesOutdated
        overrun = statistics.messagesOverrun
        forged = statistics.datagramsForged
        roundTripTime = statistics.roundTripTime
    }
}
