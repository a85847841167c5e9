import Elemental

extension ElementalBrowser.Event: ConsoleEvent {
    var isResult: Bool {
        switch self {
        case .found, .updated, .gone: true
        case .unresolved, .failed: false
        }
    }

    var lines: [String] {
        switch self {
        case .found(let service): ["+ \(service.line)"]
        case .updated(let service): ["~ \(service.line)"]
        case .gone(let service, let name): ["- \(service)/\(name)"]
        case .unresolved(let service, let name, let error):
            ["\(service)/\(name) is listed but does not answer: \(error.message)"]
        case .failed(let error, let delay):
            ["browsing does not work at the moment: \(error.message); next attempt in \(delay)"]
        }
    }

    var json: JSONText {
        switch self {
        case .found(let service): .event("found", service.members)
        case .updated(let service): .event("updated", service.members)
        case .gone(let service, let name): .event("gone", [("service", .string(service)), ("name", .string(name))])
        case .unresolved(let service, let name, let error):
            .event(
                "unresolved",
                [("service", .string(service)), ("name", .string(name)), ("reason", .string(error.message))])
        case .failed(let error, let delay):
            .event("discoveryFailed", [("reason", .string(error.message)), ("retryIn", .seconds(delay))])
        }
    }
}

extension DiscoveredService {
    /// `SERVICE/NAME  HOST:PORT  ADDRESSES  [SECURITY]  KEY=VALUE…`
    fileprivate var line: String {
        let parts =
            ["\(service)/\(name)".padded(to: 28), "\(hostName):\(port)".padded(to: 22)]
            + [addresses.joined(separator: " ").padded(to: 15)] + (requirement.map { ["[\($0)]"] } ?? [])
            + sortedTXT.map { "\($0.key)=\($0.value)" }
        return String(parts.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }

    fileprivate var members: JSONText.Members {
        [
            ("service", .string(service)), ("name", .string(name)), ("host", .string(hostName)),
            ("port", .integer(port)), ("addresses", .array(addresses.map { .string($0) })),
            ("txt", .object(sortedTXT.map { ($0.key, .string($0.value)) })),
        ] + securityMembers
    }

    private var sortedTXT: [(key: String, value: String)] { txt.sorted { $0.key < $1.key } }
}
