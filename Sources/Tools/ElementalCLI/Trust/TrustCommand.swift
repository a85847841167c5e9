import ArgumentParser
import ElementalSecurity
import ElementalWire
import Support

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Show this user's fingerprint, and manage the trusted peers.",
        discussion: """
            Services and clients know each other by fingerprints of their keys. To let a client use a service that is for \
            paired clients, add each end's fingerprint to the other's list: the client's at the service, and the service's \
            at the client.

              $ elemental trust
              $ elemental trust add FINGERPRINT-OF-THE-LAPTOP --name Laptop --role control
              $ elemental trust add FINGERPRINT-OF-THE-PI --name robot/Rover
              $ elemental trust list
              $ elemental trust revoke Laptop
            """,
        subcommands: [
            TrustShowCommand.self, TrustListCommand.self, TrustAddCommand.self, TrustRevokeCommand.self,
            TrustResetCommand.self,
        ],
        defaultSubcommand: TrustShowCommand.self)
}

struct TrustShowCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show this user's fingerprint; the first time, create its identity.",
        discussion: """
            Examples:
              $ elemental trust show
              $ elemental trust show --qr
            """)

    @Flag(name: .customLong("qr"), help: "Also show it as a QR code in the terminal.")
    var asQRCode = false

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let state = try await state.open()
        await console.emit(.identity(state.identity.fingerprint, directory: state.directory))
        if asQRCode { await console.show(qrCode: "\(state.identity.fingerprint)") }
    }
}

extension ConsoleEvent where Self == Notice {
    static func identity(_ fingerprint: Fingerprint, directory: String) -> Notice {
        Notice(
            "identity",
            [
                ("fingerprint", .string("\(fingerprint)")), ("id", .string(fingerprint.short)),
                ("state", .string(directory)),
            ], isResult: true, "\(fingerprint)")
    }
}

struct TrustAddCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Trust a client or a service by its fingerprint, without pairing.",
        discussion: """
            A NAME with a slash is a service that this user uses, and pins its key: SERVICE/INSTANCE. Any other is a client \
            that may use this user's services; --service limits that to some of them. The fingerprint has to be whole, as \
            'elemental trust' shows it at the peer: a part of it can be forged.

              $ elemental trust add FINGERPRINT --name Laptop --role control
              $ elemental trust add FINGERPRINT --name Hall --role observe --service robot
              $ elemental trust add FINGERPRINT --name robot/Rover
            """)

    @Argument(help: "The peer's whole fingerprint: 52 characters, with or without hyphens.")
    var fingerprint: Fingerprint

    @Option(help: "The client's name, or SERVICE/INSTANCE.")
    var name: String

    @Option(help: "What a client may do: \(Role.grantedNames).")
    var role: Role?

    @Option(help: "A service that the client may use; may be repeated (default: all).")
    var service: [String] = []

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    /// The two parts of SERVICE/INSTANCE; `nil` for a client's name.
    private var serviceAndInstance: (service: String, instance: String)? {
        guard let slash = name.firstIndex(of: "/") else { return nil }
        return (String(name[..<slash]), String(name[name.index(after: slash)...]))
    }

    func validate() throws {
        if serviceAndInstance != nil {
            guard service.isEmpty else { throw ValidationError("--service is for clients; '\(name)' is a service") }
            guard role == nil else {
                throw ValidationError(
                    "--role is for clients; the service '\(name)' decides what this user may do there")
            }
        } else if role == nil {
            throw ValidationError("--role is missing: what may '\(name)' do? One of \(Role.grantedNames)")
        }
    }

    func perform(_ console: Console) async throws {
        let state = try await state.open()
        let own = state.identity.fingerprint
        if let (service, instance) = serviceAndInstance {
            let peer = TrustedService(fingerprint: fingerprint, service: service, instance: instance, role: .control)
            try await Blocking.run { try state.trust.update { try $0.pin(peer, own: own) } }
            await console.emit(.trusted(peer))
        } else {
            let peer = TrustedClient(
                fingerprint: fingerprint, name: name, role: role ?? .observe,
                services: service.isEmpty ? .all : .named(Set(service)))
            try await Blocking.run { try state.trust.update { try $0.pin(peer, own: own) } }
            await console.emit(.trusted(peer))
        }
    }
}

extension Fingerprint: ExpressibleByArgument {
    /// Parses a whole fingerprint, with or without hyphens.
    public init?(argument: String) { self.init(argument) }
}

struct TrustRevokeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "No longer trust a peer.",
        discussion: """
            Connections of a client that is no longer trusted end within two seconds. Clients that it paired keep access, and \
            are listed.

              $ elemental trust revoke Laptop
              $ elemental trust revoke robot/Rover
            """)

    @Argument(
        help: ArgumentHelp(
            "A client's name, a service as SERVICE/INSTANCE or INSTANCE, or a whole fingerprint.", valueName: "peer"))
    var peer: String

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        guard let state = try await state.openExisting() else {
            throw CommandFailure("unknownPeer", "no peer is trusted yet, so '\(peer)' cannot be revoked")
        }
        let peer = peer
        let revocation = try await Blocking.run { try state.trust.update { try $0.revoke(peer) } }
        for client in revocation.clients { await console.emit(.trusted(client, isRevoked: true)) }
        for service in revocation.services { await console.emit(.trusted(service, isRevoked: true)) }
        for client in revocation.letIn {
            await console.talk("still trusted: '\(client.name)', which '\(peer)' paired; revoke it too if necessary")
            if output.json { await console.emit(.trusted(client)) }
        }
    }
}

struct TrustResetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Delete this user's identity and all trust.",
        discussion: """
            The next command creates a new identity. Everything that was paired has to be paired again, and the peers \
            have to revoke the old one first, because they do not know the new key. It also helps if a file is damaged.

            Example:
              $ elemental trust reset --yes
            """)

    @Flag(help: "Confirm the deletion.")
    var yes = false

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard yes else {
            throw ValidationError(
                "this deletes the identity and all trust, which cannot be undone; to confirm, give --yes")
        }
    }

    func perform(_ console: Console) async throws {
        try await state.reset()
        await console.talk("identity and trust are deleted")
    }
}
