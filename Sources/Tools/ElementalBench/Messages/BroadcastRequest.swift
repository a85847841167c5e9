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
