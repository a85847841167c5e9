import ArgumentParser
import Support

struct AliasCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "alias",
        abstract: "Give a TARGET a name of your own, list these names or remove one.",
        discussion: """
            An alias can replace any TARGET. It is typed like a SERVICE, without '/' and ':', with its upper and lower case \
            letters, and takes precedence over a service of that name on the network, unless that is paired: a name of a \
            paired service is never an alias. An alias stands for a TARGET only, not for options or other aliases.

              $ elemental alias lamp 'lamp/Desk lamp'
              $ elemental get lamp Brightness
              $ elemental alias
              $ elemental alias --remove lamp
            """)

    @Argument(help: ArgumentHelp("The new name.", valueName: "alias"))
    var alias: String?

    @Argument(help: "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT.")
    var target: String?

    @Option(help: ArgumentHelp("Remove an alias.", valueName: "alias"))
    var remove: String?

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (alias == nil) == (target == nil) else {
            throw ValidationError("'\(alias?.excerpt ?? "")' has no TARGET; give ALIAS and TARGET, or --remove ALIAS")
        }
        guard remove == nil || alias == nil else { throw ValidationError("give --remove without ALIAS and TARGET") }
    }

    func perform(_ console: Console) async throws {
        let (alias, target, remove, state) = (alias, target, remove, state)
        if let alias, let target {
            try await Blocking.run {
                let pinned = try state.pinnedServices()
                try state.updateAliases { aliases throws(CommandFailure) in
                    try aliases.set(alias, to: target, pinned: pinned)
                }
            }
            return await console.emit(.alias(alias, target))
        }
        if let remove {
            let removed = Locked("")
            try await Blocking.run {
                try state.updateAliases { aliases throws(CommandFailure) in
                    guard let target = aliases.remove(remove) else {
                        throw CommandFailure(
                            "unknownAlias", "there is no alias '\(remove.excerpt)'; see: elemental alias")
                    }
                    removed.withLock { $0 = target }
                }
            }
            return await console.emit(.alias(remove, removed.withLock { $0 }, isRemoved: true))
        }
        let aliases = try await Blocking.run { try state.aliases() }
        let width = aliases.targets.keys.map(\.columnCount).max() ?? 0
        for (alias, target) in aliases.targets.sorted(by: { $0.key < $1.key }) {
            await console.emit(.alias(alias, target, width: width))
        }
        if aliases.targets.isEmpty { await console.talk("there are no aliases yet: elemental alias NAME TARGET") }
    }
}

extension ConsoleEvent where Self == Notice {
    /// An alias that exists, or that was removed.
    static func alias(_ alias: String, _ target: String, isRemoved: Bool = false, width: Int = 0) -> Notice {
        Notice(
            isRemoved ? "aliasRemoved" : "alias", [("alias", .string(alias)), ("target", .string(target))],
            isResult: true,
            (isRemoved ? "removed: " : "") + alias.padded(to: width) + "  " + target.shellArgument)
    }
}
