import ArgumentParser
import ElementalSecurity
import ElementalWire
import Support

/// Lists the trusted peers.
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
        let peers: TrustedPeers
        if let state = try await state.openExisting() {
            peers = try await Blocking.run { try state.trust.read() }
        } else {
            peers = TrustedPeers()
        }
        let events =
            peers.clients.sorted { $0.name < $1.name }.map { TrustedPeerEvent($0) }
            + peers.services.sorted { ($0.service, $0.instance) < ($1.service, $1.instance) }.map {
                TrustedPeerEvent($0)
            }
        let table = Table(
            titles: ["KIND", "NAME", "ROLE", "SERVICES", "LET IN BY", "FINGERPRINT"], rows: events.map(\.row))
        await console.emit(events, as: table)
        if events.isEmpty { await console.talk("nobody is trusted yet") }
    }
}

/// A peer that is in the list, or that was just added or removed.
struct TrustedPeerEvent: ConsoleEvent {
    /// The two lists of peers.
    enum Kind: String {
        case client
        case service
    }

    let kind: Kind
    /// The client's name, or the instance's.
    let name: String
    /// The service's name; `nil` for a client.
    let service: String?
    let fingerprint: Fingerprint
    /// What it may do, or for a service what it lets this user do; `nil` for a role of a newer version.
    let role: Role?
    /// The services that a client may use, sorted; `nil` for all.
    let services: [String]?
    /// The client that let it in.
    let pairedBy: Fingerprint?
    let isRevoked: Bool
    /// Whether a service has not said that it stored this user: the pairing counts for nothing.
    let isPending: Bool

    init(_ client: TrustedClient, isRevoked: Bool = false) {
        kind = .client
        name = client.name
        service = nil
        fingerprint = client.fingerprint
        role = client.role
        switch client.services {
        case .all: services = nil
        case .named(let names): services = names.sorted()
        }
        pairedBy = client.pairedBy
        self.isRevoked = isRevoked
        isPending = false
    }

    init(_ service: TrustedService, isRevoked: Bool = false) {
        kind = .service
        name = service.instance
        self.service = service.service
        fingerprint = service.fingerprint
        role = service.role
        services = nil
        pairedBy = nil
        self.isRevoked = isRevoked
        isPending = service.isPending
    }

    var isResult: Bool { true }

    /// The peer in the list.
    fileprivate var row: [Styled] {
        let role = self.role.map { Styled($0.rawValue) } ?? Styled("newer than this version, grants nothing", .bad)
        return [
            Styled(kind.rawValue), Styled(service.map { "\($0)/\(name)" } ?? name, .heading),
            isPending ? Styled("\(role.text), pending: pair again", .warning) : role,
            Styled(kind == .service ? "" : services?.joined(separator: ", ") ?? "all"),
            Styled(pairedBy?.short ?? ""), Styled("\(fingerprint)", .faint),
        ]
    }

    var lines: [String] {
        let verb = isRevoked ? "no longer trusted: " : ""
        let use =
            switch (kind, services) {
            case (.service, _): ""
            case (.client, nil): " of all services"
            case (.client, let names?): " of \(names.joined(separator: ", "))"
            }
        let by = pairedBy.map { ", let in by \($0.short)" } ?? ""
        let pending = isPending ? ", pending: it counts for nothing until it is paired again" : ""
        return [
            "\(verb)\(kind) '\(service.map { "\($0)/" } ?? "")\(name)', \(role?.rawValue ?? "a role of a newer version, which grants nothing")\(use)\(by)\(pending)",
            "  \(fingerprint)",
        ]
    }

    var json: JSONText {
        var members: JSONText.Members = service == nil ? [("client", .string(name))] : JSONText.members(service, name)
        members += [
            ("kind", .string(kind.rawValue)), ("fingerprint", .string("\(fingerprint)")),
            ("role", .optional(role?.rawValue)),
        ]
        if kind == .service { members.append(("pending", .bool(isPending))) }
        if kind == .client {
            members.append(("services", services.map { .array($0.map(JSONText.string)) } ?? .null))
            members.append(("pairedBy", .optional(pairedBy.map { "\($0)" })))
        }
        return .event(isRevoked ? "revoked" : "trusted", members)
    }
}
