import Elemental
import ElementalFollowing
import Support

extension ConsoleEvent where Self == Notice {
    static func statistics(_ key: ServiceKey, _ statistics: DeviceStatistics) -> Notice {
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
            ("datagramErrors", statistics.datagramErrors, "reports that a datagram did not arrive"),
        ]
        for (name, count, meaning) in problems where count > 0 {
            rows.append((name == "datagramErrors" ? "errors" : name, "\(count) \(meaning)"))
        }
        let counts = [
            ("messagesSent", statistics.messagesSent), ("bytesSent", statistics.bytesSent),
            ("messagesReceived", statistics.messagesReceived), ("bytesReceived", statistics.bytesReceived),
            ("unsent", statistics.messagesUnsent),
        ]
        let time = statistics.roundTripTime.map { JSONText.seconds($0) } ?? .null
        return Notice(
            "statistics",
            JSONText.members(key) + (counts + problems.map { ($0.0, $0.1) }).map { ($0.0, .integer($0.1)) }
                + [("roundTripTime", time)],
            isResult: true, rows.map { "\($0.0.padded(to: 10))\($0.1)" })
    }

    static func ping(_ key: ServiceKey, _ time: Duration) -> Notice {
        Notice(
            "ping", JSONText.members(key) + [("microseconds", .number(time.microsecondsText))], isResult: true,
            "\(key.name) answered in \(time.microsecondsText) µs")
    }
}

extension Duration {
    fileprivate var microsecondsText: String {
        let tenths = nanoseconds / 100
        return "\(tenths / 10).\(tenths % 10)"
    }
}
