import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A command, its subcommands, and its arguments as the parser describes them. Only one command is described at a time:
/// describing all of them takes three times as long as the rest of an answer.
final class CommandTree {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        struct Values: Decodable { let values: [String]? }

        let kind: String
        let shouldDisplay: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        /// How it is completed, such as `list`, and of what.
        let completionKind: [String: Values]?
    }

    private struct Description: Decodable {
        struct Command: Decodable { let arguments: [Argument]? }

        let command: Command
    }

    private let command: any ParsableCommand.Type
    let commands: [CommandTree]
    /// The arguments of a command without subcommands. A command with subcommands has none.
    private lazy var arguments: [Argument] = {
        guard commands.isEmpty else { return [] }
        let description = try? JSONDecoder().decode(Description.self, from: Data(command._dumpHelp().utf8))
        return description?.command.arguments ?? []
    }()

    init(_ command: any ParsableCommand.Type) {
        self.command = command
        commands = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map(CommandTree.init)
    }

    var commandName: String { command._commandName }

    /// The command whose arguments may follow this one's name: itself, or its default subcommand.
    var implied: CommandTree {
        let implied = command.configuration.defaultSubcommand
        return commands.first { $0.command == implied } ?? self
    }

    var options: [Argument] { arguments.filter { $0.kind != "positional" && $0.shouldDisplay } }

    var positionals: [Argument] { arguments.filter { $0.kind == "positional" } }

    func option(taking name: String) -> Argument? {
        options.first { $0.kind == "option" && ($0.names ?? []).contains { $0.text == name } }
    }
}
