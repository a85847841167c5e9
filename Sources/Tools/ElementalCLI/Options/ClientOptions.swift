import ArgumentParser
import Elemental
import ElementalSecurity
import ElementalWire
import Support

struct ClientOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.",
            discussion: "SERVICE alone is enough if the network has only one. An IPv6 address goes in brackets."),
        transform: Target.init(parsing:))
    var target: Target

    @Option(help: ArgumentHelp("The name of this client (default: elemental@HOST).", valueName: "name"))
    var name: String?

    @OptionGroup var security: ClientSecurityOptions
    @OptionGroup var limits: LimitOptions

    func validate() throws { try ClientName.check(name) }

    var clientName: String { name ?? ClientName.standard }
}

/// Element definitions from the command line, for a service that does not send its catalogue.
struct ElementOptions: ParsableArguments {
    @Option(
        name: .customLong("element"),
        help: ArgumentHelp(
            "An element, for a service that does not send its catalogue; may be given several times.",
            discussion: ElementSpec.form, valueName: "spec"),
        transform: ElementSpec.init(parsing:))
    var specs: [ElementSpec] = []

    func validate() throws { _ = try catalogue }

    /// The given elements, or `nil` to use the catalogue that the service sends.
    var catalogue: ElementCatalogue? {
        get throws {
            guard !specs.isEmpty else { return nil }
            return try checked { try ElementCatalogue(specs.map(\.definition)) }
        }
    }
}

/// The name under which a client connects: `--name`.
enum ClientName {
    /// Checks that a service would accept the name unchanged.
    static func check(_ name: String?) throws {
        guard let name, !(1...SystemElement.maximumNameByteCount).contains(name.utf8.count) else { return }
        throw ValidationError(
            "the name of this client takes 1 to \(SystemElement.maximumNameByteCount) bytes, not \(name.utf8.count)")
    }

    /// The default: `elemental@HOST`.
    static var standard: String { standard(of: "elemental") }

    /// The default for pairing, where no two clients of a service may have the same name: `PROGRAM@HOST-XXXX`. It
    /// contains the beginning of the fingerprint, because many hosts have the same default name.
    static func pairing(of program: String = "elemental", _ identity: Fingerprint?) -> String {
        guard let identity else { return standard(of: program) }
        let suffix = "-" + identity.short.prefix(4)
        return standard(of: program).prefix(64 - suffix.count) + suffix
    }

    /// `PROGRAM@HOST`.
    static func standard(of program: String) -> String { HostName.known.map { "\(program)@\($0)" } ?? program }
}

/// The option of the commands that can outlast a connection to a service.
struct ReconnectOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "When the connection is lost, connect again, until Ctrl-C.",
            discussion: """
                Attempts come 1, 2, 4 s and so on up to 30 s apart, and at once when the service is seen to return. A \
                service given by its name is found again at another address or port.
                """))
    var reconnect = false

    var policy: (any ReconnectionPolicy)? { reconnect ? Self.untilInterrupted : nil }

    static var untilInterrupted: any ReconnectionPolicy {
        .exponential(first: .seconds(1), factor: 2, maximum: .seconds(30), jitter: 0)
    }
}

/// How much of this process's memory a peer may use.
struct LimitOptions: ParsableArguments {
    static let help = ArgumentHelp("The maximum length of a value from the peer, in bytes.", valueName: "bytes")

    @Option(name: .customLong("max-value"), help: LimitOptions.help)
    var maximumValueByteCount = DeviceLimits().maximumValueByteCount

    func validate() throws { try Self.check(maximumValueByteCount) }

    static func check(_ byteCount: Int) throws {
        guard !(1...Int(UInt32.max)).contains(byteCount) else { return }
        throw ValidationError("--max-value takes 1 to \(UInt32.max) bytes, not \(byteCount)")
    }

    var device: DeviceLimits { DeviceLimits(maximumValueByteCount: maximumValueByteCount) }
}
