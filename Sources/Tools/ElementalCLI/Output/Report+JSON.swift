import Elemental
import ElementalBench

extension LatencyReport {
    /// The members of the report's object; times in microseconds.
    var members: [(key: String, value: JSONText)] {
        [
            ("transport", .string(transport.rawValue)), ("via", .string(via.rawValue)), ("count", .integer(count)),
            ("p50", Self.time(percentile(50))), ("p90", Self.time(percentile(90))), ("p99", Self.time(percentile(99))),
            ("p999", Self.time(percentile(99.9))), ("max", Self.time(maximum)), ("lost", .integer(lost)),
            ("min", Self.time(minimum)), ("mean", Self.time(mean)),
        ] + (load?.members ?? [])
    }

    /// A tenth of a microsecond is as fine as the histogram is.
    private static func time(_ microseconds: Double) -> JSONText { JSONText((microseconds * 10).rounded() / 10) }
}

extension LoadReport {
    /// What the report of the round trips beside it says of the load.
    fileprivate var members: [(key: String, value: JSONText)] {
        [
            ("beside", .string(load.rawValue)), ("besideMessagesPerSecond", JSONText(rounded: messagesPerSecond)),
            ("besideBytesPerSecond", JSONText(rounded: bytesPerSecond)), ("besideLost", .integer(lost)),
        ]
    }
}

extension ThroughputReport {
    /// The members of the report's object.
    var members: [(key: String, value: JSONText)] {
        [
            ("transport", .string(transport.rawValue)), ("messages", .integer(messages)),
            ("seconds", JSONText(seconds)),
            ("messagesPerSecond", JSONText(rounded: messagesPerSecond)),
            ("bytesPerSecond", JSONText(rounded: bytesPerSecond)),
            ("lost", .integer(lost)), ("sent", .integer(sent)), ("bytes", .integer(bytes)),
            ("senderProcessorTime", JSONText(senderProcessorTime)),
            ("receiverProcessorTime", JSONText(receiverProcessorTime)),
            ("repeated", .integer(repeated)), ("disordered", .integer(disordered)),
        ]
    }
}

extension FanOutReport {
    /// The members of the report's object.
    var members: [(key: String, value: JSONText)] {
        [
            ("devices", .integer(devices)), ("deliveries", .integer(deliveries)), ("seconds", JSONText(seconds)),
            ("deliveriesPerSecond", JSONText(rounded: deliveriesPerSecond)), ("lost", .integer(lost)),
            ("sent", .integer(sent)),
        ]
    }
}

extension JSONText {
    /// The nearest whole number.
    fileprivate init(rounded value: Double) { self = .integer(Int(value.rounded())) }
}
