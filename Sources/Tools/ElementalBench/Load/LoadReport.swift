/// What went over the network beside the round trips.
public struct LoadReport: Sendable {
    /// What kind of load it was.
    public let load: Load
    /// Messages that were sent.
    public let sent: Int
    /// Messages that arrived, each counted once.
    public let messages: Int
    /// Bytes of the values that arrived.
    public let bytes: Int
    /// How long the load lasted.
    public let seconds: Double

    /// Messages that were sent and did not arrive.
    public var lost: Int { max(0, sent - messages) }
    /// Messages that arrived in a second.
    public var messagesPerSecond: Double { seconds > 0 ? Double(messages) / seconds : 0 }
    /// Bytes of values that arrived in a second.
    public var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

    /// The report for a person.
    var line: String {
        let rate =
            switch load {
            case .large: "1 MiB values on the same connection, \(LatencyReport.tenths(bytesPerSecond / 1e6)) MB/s"
            case .motion: "the motion of 100 other devices, \(Int(messagesPerSecond.rounded())) messages/s"
            }
        return "  beside \(rate), \(lost) of \(sent) lost"
    }
}
