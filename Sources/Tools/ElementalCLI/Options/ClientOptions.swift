import ArgumentParser
import Elemental

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

    func validate() throws {
        try ClientName.check(name)
    }

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
