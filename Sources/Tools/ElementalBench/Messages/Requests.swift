/// The messages of one run that a bench service has received, as reported to the sender.
struct SinkReport: Codable, Sendable {
    /// The run's number, which distinguishes its messages and report from those of earlier ones.
    var run: UInt32
    /// Messages that arrived, each counted once.
    var messages = 0
    var bytes = 0
    var repeated = 0
    var disordered = 0
    /// From the first arrival to the last.
    var seconds = 0.0
    /// The CPU time of the service's whole process since the run began, in seconds.
    var processorTime = 0.0
}

/// A device's request for broadcasts.
struct BroadcastRequest: Codable, Sendable {
    /// The run's number, which the values carry.
    var run: UInt32
    /// The bytes of each value; `nil` to stop.
    var byteCount: Int?
}

/// How many values a broadcast had.
struct BroadcastReport: Codable, Sendable {
    var run: UInt32
    var sent: UInt64
}
