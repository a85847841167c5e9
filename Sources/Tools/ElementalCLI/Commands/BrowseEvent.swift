import Elemental
import Support

extension ConsoleEvent where Self == Notice {
    static func browsing(_ event: ElementalBrowser.Event, _ trusted: UserTrust) -> Notice {
        func found(_ name: String, _ mark: Styled, _ service: DiscoveredService) -> Notice {
            let standing = trusted.standing(to: service)
            return Notice(name, service.members(standing), isResult: true, styled: [[mark] + service.line(standing)])
        }
        switch event {
        case .found(let service): return found("found", Styled("+ ", .good), service)
        case .updated(let service): return found("updated", Styled("~ ", .warning), service)
        case .gone(let service, let name):
            return Notice(
                "gone", JSONText.members(service, name), isResult: true,
                styled: [[Styled("- ", .bad), Styled("\(service)/\(name)", .heading)]])
        case .unresolved(let service, let name, let error):
            return Notice(
                "unresolved", JSONText.members(service, name) + JSONText.members(error),
                "\(service)/\(name) is listed but does not answer: \(error.message)")
        case .failed(let error, let delay):
            return .browsingFailed(error, delay)
        }
    }
}

extension DiscoveredService {
    /// `SERVICE/NAME  HOST:PORT  ADDRESSES  [SECURITY]  KEY=VALUE…`, in columns of fixed widths: the next is not known yet.
    fileprivate func line(_ standing: ServiceStanding) -> [Styled] {
        let cells = cells(standing)
        return Table.line(cells[..<3] + cells[3...].filter { !$0.text.isEmpty }, [28, 22, 15])
    }

    func cells(_ standing: ServiceStanding) -> [Styled] {
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
