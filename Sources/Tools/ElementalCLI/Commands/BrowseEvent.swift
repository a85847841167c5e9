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

    /// The services that were found, a row each.
    static func table(of events: [BrowseEvent]) -> Table {
        let rows = events.compactMap { event in
            if case .found(let service) = event.event { service.cells(event.standing) } else { nil }
        }
        return Table(titles: ["SERVICE", "HOST", "ADDRESSES", "SECURITY", "TXT"], rows: rows)
    }

    var styledLines: [[Styled]] {
        switch event {
        case .found(let service): [[Styled("+ ", .good)] + service.line(standing)]
        case .updated(let service): [[Styled("~ ", .warning)] + service.line(standing)]
        case .gone(let service, let name): [[Styled("- ", .bad), Styled("\(service)/\(name)", .heading)]]
        case .unresolved, .failed: lines.map { [Styled($0)] }
        }
    }

    var lines: [String] {
        switch event {
        case .found, .updated, .gone: styledLines.map { $0.map(\.text).joined() }
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
            Notice.browsingFailed(error, delay).json
        }
    }
}

extension DiscoveredService {
    /// `SERVICE/NAME  HOST:PORT  ADDRESSES  [SECURITY]  KEY=VALUE…`, in columns of fixed widths: the next is not known yet.
    fileprivate func line(_ standing: ServiceStanding) -> [Styled] {
        let cells = cells(standing)
        return Table.line(cells[..<3] + cells[3...].filter { !$0.text.isEmpty }, [28, 22, 15])
    }

    fileprivate func cells(_ standing: ServiceStanding) -> [Styled] {
        let style: Styled.Style =
            switch standing {
            case .none: .warning
            case .own, .paired: .good
            case .keyChanged, .keyMissing: .bad
            }
        return [
            Styled("\(service)/\(name)", .heading), Styled("\(hostName):\(port)"),
            Styled(addresses.joined(separator: " ")), Styled(remark(standing).map { "[\($0)]" } ?? "", style),
            Styled(sortedTXT.map { "\($0.key)=\($0.value)" }.joined(separator: "  "), .faint),
        ]
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
