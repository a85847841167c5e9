import ArgumentParser
import ElementalSecurity
import ElementalWire

struct TrustAddCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Trust a client or a service by its fingerprint, without pairing.",
        discussion: """
            A NAME with a slash is a service that this user uses, and pins its key: SERVICE/INSTANCE. Any other is a client \
            that may use this user's services; --service limits that to some of them. The fingerprint has to be whole, as \
            'elemental trust' shows it at the other end: a part of it can be forged.

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
    public init?(argument: String) { self.init(argument) }
}
