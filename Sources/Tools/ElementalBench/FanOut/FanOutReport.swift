/// The result of a fan-out run.
package struct FanOutReport: Sendable {
    package let devices: Int
    /// Values that arrived in the counted time, at all devices together.
    package let deliveries: Int
    package let seconds: Double
    /// Values that were sent in all, to all devices together.
    package let sent: Int
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

    package var lines: [String] {
        let each = devices == 0 ? 0 : deliveriesPerSecond / Double(devices)
        return [
            "\(deliveries) deliveries to \(devices) devices in \(LatencyReport.tenths(seconds * 1000)) ms",
            "  \(Int(deliveriesPerSecond.rounded())) deliveries/s, \(Int(each.rounded())) to each device",
            "  \(lost) of \(sent) lost",
        ]
    }
}
