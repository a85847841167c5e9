#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A command with its arguments and subcommands, as the parser describes it.
struct CommandTree: Decodable, Sendable {
    let commandName: String
    let shouldDisplay: Bool
    let defaultSubcommand: String?
    private let subcommands: [CommandTree]?
    private let arguments: [Argument]?

    struct Argument: Decodable, Sendable {
        struct Name: Decodable, Sendable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        struct Values: Decodable, Sendable { let values: [String]? }

        let kind: String
        let shouldDisplay: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        /// How it is completed, such as `list`, and of what.
        let completionKind: [String: Values]?
    }

    static func root(_ help: String) throws -> CommandTree {
        struct Description: Decodable { let command: CommandTree }
        return try JSONDecoder().decode(Description.self, from: Data(help.utf8)).command
    }

    var commands: [CommandTree] { (subcommands ?? []).filter(\.shouldDisplay) }

    /// The command whose arguments may follow this one's name: itself, or its default subcommand.
    var implied: CommandTree { commands.first { $0.commandName == defaultSubcommand } ?? self }

    var options: [Argument] { (arguments ?? []).filter { $0.kind != "positional" && $0.shouldDisplay } }

    var positionals: [Argument] { (arguments ?? []).filter { $0.kind == "positional" } }

    func option(taking name: String) -> Argument? {
        options.first { $0.kind == "option" && ($0.names ?? []).contains { $0.text == name } }
    }
}
