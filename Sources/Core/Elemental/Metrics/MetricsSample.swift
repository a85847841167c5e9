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
