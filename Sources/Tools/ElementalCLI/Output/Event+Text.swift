import CommodoreGateway
import Elemental

extension Event {
    /// The event in words for a person, a line each.
    var lines: [String] {
        switch self {
        case .found(let service): ["+ \(Self.line(service))"]
        case .updated(let service): ["~ \(Self.line(service))"]
        case .gone(let service, let name): ["- \(service)/\(name)"]
        case .unresolved(let service, let name, let reason):
            ["\(service)/\(name) is listed but does not answer: \(reason)"]
        case .discoveryFailed(let reason, let delay): ["looking does not work now: \(reason); next attempt in \(delay)"]
        case .listening(let service, let port, _): ["\(service) listens at port \(port)"]
        case .published(let service, let name, let port): ["published as \(service)/\(name) at port \(port)"]
        case .publishFailed(let service, let reason, let delay):
            ["\(service) is not published: \(reason); next attempt in \(delay)"]
        case .stopped(let service): ["\(service) has ended"]
        case .connected(let device, let address): ["\(device) connected from \(address)"]
        case .joined(let device, let address):
            ["connected to \(device)" + (device == address ? "" : " at \(address)")]
        case .disconnected(let device, let reason): ["\(device) disconnected: \(reason)"]
        case .willReconnect(let device, let attempt, let delay): [Self.line(device, attempt, delay)]
        case .didReconnect(let device, let address):
            ["connected to \(device) again" + (device == address ? "" : " at \(address)")]
        case .service(let description): description.lines
        case .value(let arrived, _): [arrived.element.line(arrived.value)]
        case .set(let element, let value, _): [Self.brief(element, value)]
        case .received(let arrived, let device): ["\(Self.brief(arrived.element, arrived.value))  from \(device)"]
        case .progress(let progress, _):
            ["\(progress.element.name): \(progress.byteCount) of \(progress.totalByteCount) bytes"]
        case .statistics(let statistics, _): Self.table(statistics)
        case .ping(let time, let device): ["\(device) answered in \(time.microsecondsText) µs"]
        case .line(let name, let state, let reason, let delay): [Self.line(name, state, reason, delay)]
        case .program(let name, let isConnected):
            ["the program '\(name)' is \(isConnected ? "connected" : "not connected any more")"]
        case .record(let bytes, let isSent, let isWhole, let time): [Self.line(bytes, isSent, isWhole, time)]
        case .latency(let report): report.lines
        case .throughput(let report): report.lines
        case .fanOut(let report): report.lines
        case .screen(let report): report.rows
        case .cpuTest(let cycles): ["success after \(cycles) cycles"]
        case .hub(let event): event.lines
        case .bridge(let event, let url): event.lines(hub: url)
        case .error(let message, _): ["elemental: \(message)"]
        }
    }

    /// `NAME=VALUE`, or how long the value is where it would fill the screen.
    private static func brief(_ element: ElementDefinition, _ value: ElementValue) -> String {
        value.isLong ? "\(element.name): \(value.wireByteCount) bytes" : element.line(value)
    }

    /// `SERVICE/NAME  HOST:PORT  ADDRESSES  KEY=VALUE…`
    private static func line(_ service: DiscoveredService) -> String {
        let parts =
            ["\(service.service)/\(service.name)".padded(to: 28), "\(service.hostName):\(service.port)".padded(to: 22)]
            + [service.addresses.joined(separator: " ").padded(to: 15)]
            + service.txt.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return String(parts.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }

    private static func line(_ device: String, _ attempt: ReconnectionAttempt, _ delay: Duration) -> String {
        let why = attempt.lastError.map { "\($0)" } ?? "\(attempt.reason)"
        return "\(device) is away: \(why); attempt \(attempt.number) " + (delay == .zero ? "at once" : "in \(delay)")
    }

    private static func line(_ name: String?, _ state: String, _ reason: String?, _ delay: Duration?) -> String {
        switch state {
        case "ready": return "the line is \(name ?? "ready")"
        case "open": return "the other end of the line is there"
        default:
            let next = delay.map { "; next attempt in \($0)" } ?? ""
            return "the line is lost: \(reason ?? "")\(next)"
        }
    }

    /// `SECONDS > NAME  BYTES  CONTENT`
    private static func line(_ bytes: [UInt8], _ isSent: Bool, _ isWhole: Bool, _ time: Duration) -> String {
        let milliseconds = time.nanoseconds / 1_000_000
        let fraction = "\(milliseconds % 1000)"
        let seconds = "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
        let name = isWhole ? RecordText.name(bytes, isCommand: isSent) : "cut off"
        return String(repeating: " ", count: max(0, 9 - seconds.count)) + seconds + (isSent ? " > " : " < ")
            + name.padded(to: 15) + " " + RecordText.hexadecimal(bytes) + "  " + RecordText.content(bytes)
    }

    private static func table(_ statistics: DeviceStatistics) -> [String] {
        var rows = [
            ("sent", "\(statistics.messagesSent) messages, \(statistics.bytesSent) bytes"),
            ("received", "\(statistics.messagesReceived) messages, \(statistics.bytesReceived) bytes"),
            ("unsent", "\(statistics.messagesUnsent)"),
        ]
        let troubles = [
            ("dropped", statistics.datagramsDropped, "datagrams that the system did not take"),
            ("replaced", statistics.messagesReplaced, "unsent values that newer ones replaced"),
            ("malformed", statistics.messagesMalformed, "frames with a value of a wrong form"),
            ("unknown", statistics.messagesUnknown, "frames of unknown elements"),
            ("rejected", statistics.messagesRejected, "values out of range or not allowed"),
        ]
        if let time = statistics.roundTripTime {
            rows.append(("ping", "\(time.microsecondsText) µs, the newest round trip"))
        }
        for (name, count, meaning) in troubles where count > 0 { rows.append((name, "\(count) \(meaning)")) }
        return rows.map { "\($0.0.padded(to: 10))\($0.1)" }
    }
}

extension ElementValue {
    /// Whether it is text or data of more than 1,024 bytes.
    var isLong: Bool { wireByteCount > 1024 }
}

extension DiscoveredService {
    /// The host's name without the dot at its end, as people type it.
    var hostName: String { host.hasSuffix(".") ? String(host.dropLast()) : host }
}

extension Duration {
    /// Microseconds with one decimal.
    var microsecondsText: String {
        let tenths = nanoseconds / 100
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Whole nanoseconds, at most those of 292 years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
