/// The traffic of the load during the round trips.
package struct LoadReport: Sendable {
    package let load: Load
    /// The number of connections that carried the load.
    package let devices: Int
    package let sent: Int
    /// Messages that arrived, each counted once.
    package let messages: Int
    /// Bytes of the values that arrived.
    package let bytes: Int
    package let seconds: Double

    package var lost: Int { max(0, sent - messages) }
    package var messagesPerSecond: Double { seconds > 0 ? Double(messages) / seconds : 0 }
    package var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }

    var line: String {
        let rate =
            switch load {
            case .large: "1 MiB values on the same connection, \(LatencyReport.tenths(bytesPerSecond / 1e6)) MB/s"
            case .motion: "the motion of \(devices) other devices, \(Int(messagesPerSecond.rounded())) messages/s"
            }
        return "  beside \(rate), \(lost) of \(sent) lost"
    }
}

/// A load during the measurement of round trips. It needs a bench service.
package enum Load: String, Sendable, CaseIterable {
    /// Values of 1 MiB stream over the same connection to the service, as fast as it accepts them.
    case large
    /// Other connections of this process send 120 vectors a second each over UDP, as devices that send their
    /// motion do.
    case motion

    /// How long the load runs before round trips begin.
    static let leadTime: Duration = .milliseconds(300)
}
