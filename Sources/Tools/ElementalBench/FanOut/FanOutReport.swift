/// How much arrived in a run in which a service sends to many devices.
package struct FanOutReport: Sendable {
    /// How many devices there were.
    package let devices: Int
    /// Values that arrived in the time that counts, at all devices together.
    package let deliveries: Int
    /// The time that counts.
    package let seconds: Double
    /// Values that were sent in all, to all devices together.
    package let sent: Int
    /// Values that were sent and did not arrive.
    package let lost: Int

    /// Values that arrived in a second, at all devices together.
    package var deliveriesPerSecond: Double { seconds > 0 ? Double(deliveries) / seconds : 0 }

    init(devices: Int, deliveries: Int, seconds: Double, sent: Int, arrived: Int) {
        self.devices = devices
        self.deliveries = deliveries
        self.seconds = seconds
        self.sent = sent
        lost = max(0, sent - arrived)
    }

    /// The report for a person.
    package var lines: [String] {
        let each = devices == 0 ? 0 : deliveriesPerSecond / Double(devices)
        return [
            "\(deliveries) deliveries to \(devices) devices in \(LatencyReport.tenths(seconds * 1000)) ms",
            "  \(Int(deliveriesPerSecond.rounded())) deliveries/s, \(Int(each.rounded())) to each device",
            "  \(lost) of \(sent) lost",
        ]
    }
}
