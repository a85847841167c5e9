import ArgumentParser
import ElementalSecurity
import ElementalWire
import Support

struct TrustListCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the clients that may use this user's services, and the services whose keys this user knows.",
        discussion: """
            Examples:
              $ elemental trust list
              $ elemental trust list --json
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let state = try await state.openExisting()
        let peers = try await Blocking.run { try state?.trust.read() ?? TrustedPeers() }
        let clients = peers.clients.sorted { $0.name < $1.name }
        let services = peers.services.sorted { ($0.service, $0.instance) < ($1.service, $1.instance) }
        let events = clients.map { Notice.trusted($0) } + services.map { Notice.trusted($0) }
        let table = Table(
            titles: ["KIND", "NAME", "ROLE", "SERVICES", "PAIRED BY", "FINGERPRINT"],
            rows: clients.map(\.row) + services.map(\.row))
        await console.emit(events, as: table)
        if events.isEmpty { await console.talk("no peer is trusted yet") }
    }
}

extension ConsoleEvent where Self == Notice {
    /// A client that is in the list, or that was just added or removed.
    static func trusted(_ client: TrustedClient, isRevoked: Bool = false) -> Notice {
        let use = client.serviceNames.map { " of \($0.joined(separator: ", "))" } ?? " of all services"
        let by = client.pairedBy.map { ", paired by \($0.short)" } ?? ""
        return trusted(
            "client", "'\(client.name)'", client.role, use + by, client.fingerprint, isRevoked,
            members: [("client", .string(client.name))],
            [
                ("services", client.serviceNames.map { .array($0.map(JSONText.string)) } ?? .null),
                ("pairedBy", .optional(client.pairedBy.map { "\($0)" })),
            ])
    }

    /// A service that is in the list, or that was just added or removed.
    static func trusted(_ service: TrustedService, isRevoked: Bool = false) -> Notice {
        trusted(
            "service", "'\(service.service)/\(service.instance)'", service.role,
            service.isPending ? ", pending: it is ignored until it is paired again" : "", service.fingerprint,
            isRevoked, members: JSONText.members(service.service, service.instance),
            [("pending", .bool(service.isPending))])
    }

    private static func trusted(
        _ kind: String, _ name: String, _ role: Role?, _ rest: String, _ fingerprint: Fingerprint, _ isRevoked: Bool,
        members: JSONText.Members, _ others: JSONText.Members
    ) -> Notice {
        let verb = isRevoked ? "no longer trusted: " : ""
        return Notice(
            isRevoked ? "revoked" : "trusted",
            members + [
                ("kind", .string(kind)), ("fingerprint", .string("\(fingerprint)")),
                ("role", .optional(role?.rawValue)),
            ] + others, isResult: true,
            "\(verb)\(kind) \(name), \(role?.rawValue ?? "a role of a newer version, which grants nothing")\(rest)",
            "  \(fingerprint)")
    }
}

extension TrustedClient {
    /// The services that the client may use, sorted; `nil` for all.
    fileprivate var serviceNames: [String]? { if case .named(let names) = services { names.sorted() } else { nil } }

    fileprivate var row: [Styled] {
        [
            Styled("client"), Styled(name, .heading), Styled(role),
            Styled(serviceNames?.joined(separator: ", ") ?? "all"), Styled(pairedBy?.short ?? ""),
            Styled("\(fingerprint)", .faint),
        ]
    }
}

extension TrustedService {
    fileprivate var row: [Styled] {
        let role = Styled(role)
        return [
            Styled("service"), Styled("\(service)/\(instance)", .heading),
            isPending ? Styled("\(role.text), pending: pair again", .warning) : role, Styled(""), Styled(""),
            Styled("\(fingerprint)", .faint),
        ]
    }
}

extension Styled {
    /// The role of a client, or this user's role at a service; `nil` for a role of a newer version.
    fileprivate init(_ role: Role?) {
        if let role { self.init(role.rawValue) } else { self.init("newer than this version, grants nothing", .bad) }
    }
}
