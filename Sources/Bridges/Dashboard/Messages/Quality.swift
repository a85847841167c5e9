internal import Elemental

/// How well a service is connected.
struct Quality: Sendable, Hashable {
    /// The newest round trip, of a ping.
    var roundTrip: Duration?
    /// Values a second from the service and to it, since the last look.
    var received = 0.0
    var sent = 0.0
    /// Values that were lost or replaced by newer ones, in all.
    var lost = 0
}

/// Makes rates of a device's counts.
struct QualityMeter {
    private var last: (statistics: DeviceStatistics, time: ContinuousClock.Instant)?

    /// What has happened since the last look.
    mutating func look(at statistics: DeviceStatistics, _ now: ContinuousClock.Instant) -> Quality {
        defer { last = (statistics, now) }
        var quality = Quality()
        quality.roundTrip = statistics.roundTripTime
        quality.lost = statistics.datagramsDropped + statistics.messagesReplaced + statistics.messagesOutdated
        guard let last, now > last.time else { return quality }
        let seconds = (now - last.time) / .seconds(1)
        // Fewer than before: another device object counts from zero.
        quality.received = max(0, Double(statistics.messagesReceived - last.statistics.messagesReceived)) / seconds
        quality.sent = max(0, Double(statistics.messagesSent - last.statistics.messagesSent)) / seconds
        return quality
    }
}
