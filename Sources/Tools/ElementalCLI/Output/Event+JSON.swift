import CommodoreGateway
import Elemental

extension Event {
    /// The event as objects of JSON, a line each.
    var json: [JSONText] {
        switch self {
        case .found(let service): [Self.object("found", Self.members(service))]
        case .updated(let service): [Self.object("updated", Self.members(service))]
        case .gone(let service, let name):
            [Self.object("gone", [("service", .string(service)), ("name", .string(name))])]
        case .unresolved(let service, let name, let reason):
            [
                Self.object(
                    "unresolved",
                    [("service", .string(service)), ("name", .string(name)), ("reason", .string(reason))])
            ]
        case .discoveryFailed(let reason, let delay):
            [Self.object("discoveryFailed", [("reason", .string(reason)), ("retryIn", Self.seconds(delay))])]
        case .listening(let service, let port, let maximumDevices):
            [
                Self.object(
                    "listening",
                    [
                        ("service", .string(service)), ("port", .integer(port)),
                        ("maximumDevices", .integer(maximumDevices)),
                    ])
            ]
        case .published(let service, let name, let port):
            [
                Self.object(
                    "published", [("service", .string(service)), ("name", .string(name)), ("port", .integer(port))])
            ]
        case .publishFailed(let service, let reason, let delay):
            [
                Self.object(
                    "publishFailed",
                    [("service", .string(service)), ("reason", .string(reason)), ("retryIn", Self.seconds(delay))])
            ]
        case .stopped(let service): [Self.object("stopped", [("service", .string(service))])]
        case .connected(let device, let address), .joined(let device, let address):
            [Self.object("connected", [("device", .string(device)), ("address", .string(address))])]
        case .disconnected(let device, let reason): [Self.disconnected(device, reason)]
        case .willReconnect(let device, let attempt, let delay): [Self.willReconnect(device, attempt, delay)]
        case .didReconnect(let device, let address):
            [Self.object("didReconnect", [("device", .string(device)), ("address", .string(address))])]
        case .service(let description): Self.service(description)
        case .value(let arrived, let device), .received(let arrived, let device):
            [
                Self.object(
                    "value",
                    Self.members(arrived.element, arrived.value) + [
                        ("device", .string(device)), ("time", JSONText(arrived.unixTime)),
                    ])
            ]
        case .set(let element, let value, let device):
            [Self.object("set", Self.setMembers(element, value) + [("device", .string(device))])]
        case .progress(let progress, let device):
            [
                Self.object(
                    "progress",
                    [
                        ("element", .string(progress.element.name)),
                        ("incoming", .bool(progress.direction == .incoming)),
                        ("byteCount", .integer(progress.byteCount)),
                        ("totalByteCount", .integer(progress.totalByteCount)), ("device", .string(device)),
                    ])
            ]
        case .statistics(let statistics, let device): [Self.statistics(statistics, device)]
        case .ping(let time, let device):
            [Self.object("ping", [("microseconds", .number(time.microsecondsText)), ("device", .string(device))])]
        case .line(let name, let state, let reason, let delay):
            [
                Self.object(
                    "line",
                    [
                        ("state", .string(state)), ("line", name.map { .string($0) } ?? .null),
                        ("reason", reason.map { .string($0) } ?? .null), ("retryIn", delay.map(Self.seconds) ?? .null),
                    ])
            ]
        case .program(let name, let isConnected):
            [Self.object("program", [("name", .string(name)), ("connected", .bool(isConnected))])]
        case .record(let bytes, let isSent, let isWhole, let elapsed):
            [
                Self.object(
                    "record",
                    [
                        ("direction", .string(isSent ? "sent" : "received")), ("elapsed", Self.seconds(elapsed)),
                        ("name", .string(RecordText.name(bytes, isCommand: isSent))),
                        ("bytes", .string(RecordText.hexadecimal(bytes))),
                        ("content", .string(RecordText.content(bytes))), ("whole", .bool(isWhole)),
                    ])
            ]
        case .latency(let report): [Self.object("latency", report.members)]
        case .throughput(let report): [Self.object("throughput", report.members)]
        case .fanOut(let report): [Self.object("fanout", report.members)]
        case .screen(let report): [Self.object("screen", report.members)]
        case .cpuTest(let cycles): [Self.object("cpuTest", [("cycles", .integer(cycles))])]
        case .hub(let event): [event.json]
        case .bridge(let event, let url): [event.json(hub: url)]
        case .error(let message, let code):
            [Self.object("error", [("code", .string(code)), ("message", .string(message))])]
        }
    }

    private typealias Members = [(key: String, value: JSONText)]

    private static func object(_ event: String, _ members: Members) -> JSONText {
        .object([("event", .string(event))] + members)
    }

    private static func members(_ service: DiscoveredService) -> Members {
        [
            ("service", .string(service.service)), ("name", .string(service.name)), ("host", .string(service.hostName)),
            ("port", .integer(service.port)), ("addresses", .array(service.addresses.map { .string($0) })),
            ("txt", .object(service.txt.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
        ]
    }

    private static func members(_ element: ElementDefinition, _ value: ElementValue) -> Members {
        [("element", .string(element.name)), ("value", value.json)]
    }

    /// A long value, of a file perhaps, is not told to the one who gave it.
    private static func setMembers(_ element: ElementDefinition, _ value: ElementValue) -> Members {
        guard value.isLong else { return members(element, value) }
        return [("element", .string(element.name)), ("byteCount", .integer(value.wireByteCount))]
    }

    private static func disconnected(_ device: String, _ reason: DisconnectReason) -> JSONText {
        object(
            "disconnected",
            [
                ("device", .string(device)), ("reason", .string(reason.description)), ("code", .string(reason.code)),
                ("expected", .bool(reason.isExpected)),
            ])
    }

    private static func willReconnect(
        _ device: String, _ attempt: ReconnectionAttempt, _ delay: Duration
    ) -> JSONText {
        object(
            "willReconnect",
            [
                ("device", .string(device)), ("attempt", .integer(attempt.number)), ("delay", seconds(delay)),
                ("elapsed", seconds(attempt.elapsed)), ("reason", .string(attempt.reason.description)),
                ("code", .string(attempt.reason.code)),
                ("error", attempt.lastError.map { .string($0.description) } ?? .null),
            ])
    }

    private static func service(_ description: ServiceDescription) -> [JSONText] {
        let head = object(
            "service",
            [
                ("service", description.service.map { .string($0) } ?? .null), ("name", .string(description.name)),
                ("address", .string(description.address)), ("elements", .integer(description.elements.count)),
                ("hello", .bool(description.saysHello)), ("udpIdentifier", .integer(description.udpIdentifier)),
            ])
        return [head]
            + description.elements.map { element, value in
                let range = element.range.map { JSONText.array([JSONText($0.lowerBound), JSONText($0.upperBound)]) }
                return object(
                    "element",
                    [
                        ("id", .integer(Int(element.id))), ("element", .string(element.name)),
                        ("type", .string(element.type.name)), ("transport", .string(element.transport.rawValue)),
                        ("access", .string(element.access.abbreviation)), ("latest", .bool(element.latest)),
                        ("unit", .string(element.unit)), ("range", range ?? .null),
                        ("step", element.step.map { JSONText($0) } ?? .null), ("value", value?.json ?? .null),
                    ])
            }
    }

    private static func statistics(_ statistics: DeviceStatistics, _ device: String) -> JSONText {
        let counts = [
            ("messagesSent", statistics.messagesSent), ("bytesSent", statistics.bytesSent),
            ("messagesReceived", statistics.messagesReceived), ("bytesReceived", statistics.bytesReceived),
            ("unsent", statistics.messagesUnsent), ("dropped", statistics.datagramsDropped),
            ("replaced", statistics.messagesReplaced), ("malformed", statistics.messagesMalformed),
            ("unknown", statistics.messagesUnknown), ("rejected", statistics.messagesRejected),
        ]
        let others = [
            ("roundTripTime", statistics.roundTripTime.map(seconds) ?? .null), ("device", JSONText.string(device)),
        ]
        return object("statistics", counts.map { ($0.0, .integer($0.1)) } + others)
    }

    private static func seconds(_ duration: Duration) -> JSONText {
        JSONText(Double(duration.nanoseconds) / 1e9)
    }
}
