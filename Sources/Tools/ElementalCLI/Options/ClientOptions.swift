import ArgumentParser
import Elemental

/// What the commands take that connect to a service.
struct ClientOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.",
            discussion: "SERVICE alone is enough where only one is on the network. An IPv6 address goes in brackets."),
        transform: Target.init(parsing:))
    var target: Target

    @Option(help: ArgumentHelp("What this client calls itself (default: elemental@HOST).", valueName: "name"))
    var name: String?

    @OptionGroup var limits: LimitOptions

    func validate() throws {
        try ClientName.check(name)
    }

    /// The name that the service is told.
    var clientName: String { name ?? ClientName.standard }
}

/// The elements that a client gives itself, for a service that cannot tell them.
struct ElementOptions: ParsableArguments {
    @Option(
        name: .customLong("element"),
        help: ArgumentHelp(
            "An element, for a service that cannot tell its own; may be given several times.",
            discussion: ElementSpec.form, valueName: "spec"),
        transform: ElementSpec.init(parsing:))
    var specs: [ElementSpec] = []

    func validate() throws { _ = try catalogue }

    /// The elements given, or `nil` for those that the service tells.
    var catalogue: ElementCatalogue? {
        get throws {
            guard !specs.isEmpty else { return nil }
            do {
                return try ElementCatalogue(specs.map(\.definition))
            } catch {
                throw ValidationError(error.message)
            }
        }
    }
}
