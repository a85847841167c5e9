import ArgumentParser

extension ElementalCommand {
    /// What begins the message of every mistake, as that of every other failure.
    static var _errorPrefix: String { "elemental: " }

    /// Parses the command line.
    static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        try checkNames(of: arguments)
        return try parseAsRoot(arguments)
    }

    /// Throws if a command's name is unknown. The parser calls it an unexpected argument, and `help` ignores it.
    private static func checkNames(of arguments: [String]) throws {
        let helps = arguments.first == helpName
        var path: [any ParsableCommand.Type] = [ElementalCommand.self]
        for (place, word) in arguments.enumerated().dropFirst(helps ? 1 : 0) where !word.hasPrefix("-") {
            guard let command = path.last else { return }
            let commands = command.configuration.subcommands
            if let next = commands.first(where: { $0.names.contains(word) }) {
                path.append(next)
                continue
            }
            guard helps || !commands.isEmpty && isUnexpected(place, in: arguments) else { return }
            throw ValidationError(
                CommandFailure.unknownName(
                    word, "command",
                    among: commands.flatMap { $0.names } + (path.count == 1 ? [helpName] : []),
                    where: "'\(path.map { $0._commandName }.joined(separator: " "))'"
                ).description)
        }
    }

    private static let helpName = "help"

    /// Whether that argument is the first mistake: a group with a default command may take other words than names.
    private static func isUnexpected(_ place: Int, in arguments: [String]) -> Bool {
        accepts(Array(arguments[..<place])) && !accepts(Array(arguments[...place]))
    }

    private static func accepts(_ arguments: [String]) -> Bool { (try? parseAsRoot(arguments)) != nil }
}

extension ParsableCommand {
    fileprivate static var names: [String] { [_commandName] + configuration.aliases }
}
