import Elemental
import Support

/// What a browser finds, and how this user stands to it.
struct BrowseEvent: ConsoleEvent {
    let event: ElementalBrowser.Event
    let standing: ServiceStanding

    init(_ event: ElementalBrowser.Event, _ trusted: UserTrust) {
        self.event = event
        switch event {
        case .found(let service), .updated(let service): standing = trusted.standing(to: service)
        case .gone, .unresolved, .failed: standing = .none
        }
    }

    var isResult: Bool {
        switch event {
        case .found, .updated, .gone: true
        case .unresolved, .failed: false
        }
    }

    var lines: [String] {
        switch event {
        case .found(let service): ["+ \(service.line(standing))"]
        case .updated(let service): ["~ \(service.line(standing))"]
        case .gone(let service, let name): ["- \(service)/\(name)"]
        case .unresolved(let service, let name, let error):
            ["\(service)/\(name) is listed but does not answer: \(error.message)"]
        case .failed(let error, let delay):
            ["browsing does not work at the moment: \(error.message); next attempt in \(delay)"]
        }
    }

    var json: JSONText {
        switch event {
        case .found(let service): .event("found", service.members(standing))
        case .updated(let service): .event("updated", service.members(standing))
        case .gone(let service, let name): .event("gone", JSONText.members(service, name))
        case .unresolved(let service, let name, let error):
            .event("unresolved", JSONText.members(service, name) + JSONText.members(error))
        case .failed(let error, let delay):
            BrowsingFailedEvent(error: error, delay: delay).json
        }
    }
}

extension DiscoveredService {
    /// `SERVICE/NAME  HOST:PORT  ADDRESSES  [SECURITY]  KEY=VALUE…`
    fileprivate func line(_ standing: ServiceStanding) -> String {
        let parts =
            ["\(service)/\(name)".padded(to: 28), "\(hostName):\(port)".padded(to: 22)]
            + [addresses.joined(separator: " ").padded(to: 15)] + (remark(standing).map { ["[\($0)]"] } ?? [])
            + sortedTXT.map { "\($0.key)=\($0.value)" }
        return String(parts.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }

    fileprivate func members(_ standing: ServiceStanding) -> JSONText.Members {
        JSONText.members(service, name) + [
            ("host", .string(hostName)), ("port", .integer(port)), ("addresses", .array(addresses.map { .string($0) })),
            ("txt", .object(sortedTXT.map { ($0.key, .string($0.value)) })),
        ] + securityMembers
            + [("trust", .string(standing.code)), ("role", .optional(standing.role?.rawValue))]
    }

    private var sortedTXT: [(key: String, value: String)] { txt.sorted { $0.key < $1.key } }
}
