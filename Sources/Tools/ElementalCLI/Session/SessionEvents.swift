import Elemental
import ElementalFollowing
import Support

/// What a connection has transferred.
struct StatisticsEvent: ConsoleEvent {
    let statistics: DeviceStatistics
    let key: ServiceKey

    var isResult: Bool { true }

    var lines: [String] {
        var rows = [
            ("sent", "\(statistics.messagesSent) messages, \(statistics.bytesSent) bytes"),
            ("received", "\(statistics.messagesReceived) messages, \(statistics.bytesReceived) bytes"),
            ("unsent", "\(statistics.messagesUnsent)"),
        ]
        if let time = statistics.roundTripTime {
            rows.append(("ping", "\(time.microsecondsText) µs, the newest round trip"))
        }
        let problems = [
            ("dropped", statistics.datagramsDropped, "datagrams that the system did not accept"),
            ("replaced", statistics.messagesReplaced, "unsent values that newer ones replaced"),
            ("malformed", statistics.messagesMalformed, "frames with a malformed value"),
            ("unknown", statistics.messagesUnknown, "frames of unknown elements"),
            ("rejected", statistics.messagesRejected, "values out of range or not allowed"),
            ("outdated", statistics.messagesOutdated, "values that came after newer ones"),
            ("overrun", statistics.messagesOverrun, "values that came faster than they were taken"),
            ("forged", statistics.datagramsForged, "datagrams that the other end did not send, or that came again"),
            ("errors", statistics.datagramErrors, "reports that a datagram did not arrive"),
        ]
        for (name, count, meaning) in problems where count > 0 { rows.append((name, "\(count) \(meaning)")) }
        return rows.map { "\($0.0.padded(to: 10))\($0.1)" }
    }

    var json: JSONText {
        let counts = [
            ("messagesSent", statistics.messagesSent), ("bytesSent", statistics.bytesSent),
            ("messagesReceived", statistics.messagesReceived), ("bytesReceived", statistics.bytesReceived),
            ("unsent", statistics.messagesUnsent), ("dropped", statistics.datagramsDropped),
            ("replaced", statistics.messagesReplaced), ("malformed", statistics.messagesMalformed),
            ("unknown", statistics.messagesUnknown), ("rejected", statistics.messagesRejected),
            ("outdated", statistics.messagesOutdated), ("overrun", statistics.messagesOverrun),
            ("forged", statistics.datagramsForged), ("datagramErrors", statistics.datagramErrors),
        ]
        let time = statistics.roundTripTime.map { JSONText.seconds($0) } ?? .null
        return .event(
            "statistics", JSONText.members(key) + counts.map { ($0.0, .integer($0.1)) } + [("roundTripTime", time)])
    }
}

/// The service answered a ping.
struct PingEvent: ConsoleEvent {
    let time: Duration
    let key: ServiceKey

    var isResult: Bool { true }

    var lines: [String] { ["\(key.name) answered in \(time.microsecondsText) µs"] }

    var json: JSONText {
        .event("ping", JSONText.members(key) + [("microseconds", .number(time.microsecondsText))])
    }
}
