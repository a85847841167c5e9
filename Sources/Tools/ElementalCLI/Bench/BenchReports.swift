import ElementalBench
import Support

extension LatencyReport: ConsoleEvent {
    var isResult: Bool { true }

    /// The report, with times in microseconds.
    var json: JSONText {
        let members: JSONText.Members = [
            ("transport", .string(transport.rawValue)), ("via", .string(via.rawValue)), ("count", .integer(count)),
            ("p50", Self.time(percentile(50))), ("p90", Self.time(percentile(90))), ("p99", Self.time(percentile(99))),
            ("p999", Self.time(percentile(99.9))), ("max", Self.time(maximum)), ("lost", .integer(lost)),
            ("min", Self.time(minimum)), ("mean", Self.time(mean)),
        ]
        return .event("latency", members + (oneWay?.members ?? []) + (load?.members ?? []))
    }

    /// Rounds to a tenth of a microsecond, the histogram's resolution.
    fileprivate static func time(_ microseconds: Double) -> JSONText { JSONText((microseconds * 10).rounded() / 10) }
}

extension OneWayTimes {
    /// The JSON members of the times in each direction.
    fileprivate var members: JSONText.Members {
        [
            ("outP50", LatencyReport.time(out(50))), ("outP99", LatencyReport.time(out(99))),
            ("backP50", LatencyReport.time(back(50))), ("backP99", LatencyReport.time(back(99))),
            ("oneWayError", LatencyReport.time(error)),
        ]
    }
}

extension LoadReport {
    /// The JSON members of the load.
    fileprivate var members: JSONText.Members {
        [
            ("beside", .string(load.rawValue)), ("besideDevices", .integer(devices)),
            ("besideMessagesPerSecond", JSONText(rounded: messagesPerSecond)),
            ("besideBytesPerSecond", JSONText(rounded: bytesPerSecond)), ("besideLost", .integer(lost)),
        ]
    }
}

extension ThroughputReport: ConsoleEvent {
    var isResult: Bool { true }

    var json: JSONText {
        let members: JSONText.Members = [
            ("transport", .string(transport.rawValue)), ("messages", .integer(messages)),
            ("seconds", JSONText(seconds)),
            ("messagesPerSecond", JSONText(rounded: messagesPerSecond)),
            ("bytesPerSecond", JSONText(rounded: bytesPerSecond)),
            ("lost", .integer(lost)), ("sent", .integer(sent)), ("bytes", .integer(bytes)),
            ("senderProcessorTime", JSONText(senderProcessorTime)),
            ("receiverProcessorTime", JSONText(receiverProcessorTime)),
            ("repeated", .integer(repeated)), ("disordered", .integer(disordered)),
        ]
        return .event("throughput", members)
    }
}

extension FanOutReport: ConsoleEvent {
    var isResult: Bool { true }

    var json: JSONText {
        let members: JSONText.Members = [
            ("devices", .integer(devices)), ("deliveries", .integer(deliveries)), ("seconds", JSONText(seconds)),
            ("deliveriesPerSecond", JSONText(rounded: deliveriesPerSecond)), ("lost", .integer(lost)),
            ("sent", .integer(sent)),
        ]
        return .event("fanout", members)
    }
}

extension JSONText {
    /// The nearest whole number.
    fileprivate init(rounded value: Double) { self = .integer(Int(value.rounded())) }
}
