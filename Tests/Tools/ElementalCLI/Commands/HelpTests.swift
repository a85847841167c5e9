import ArgumentParser
import Testing

@testable import ElementalCLI

/// The help of every command.
struct HelpTests {
    /// A command and its names, from the program's.
    private typealias Command = (type: any ParsableCommand.Type, name: String)

    private static let commands = with((ElementalCommand.self, "elemental"))

    private static func with(_ command: Command) -> [Command] {
        var commands = [command]
        for next in command.type.configuration.subcommands {
            commands += with((next, "\(command.name) \(next._commandName)"))
        }
        return commands
    }

    private static func help(of command: Command, columns: Int) -> String {
        ElementalCommand.helpMessage(for: command.type, includeHidden: true, columns: columns)
    }

    @Test
    func defaultsAreAsTheyAreTyped() {
        #expect(Self.commands.count > 35)
        for command in Self.commands {
            let help = Self.help(of: command, columns: 10_000)
            for match in help.matches(
                of: /\b[A-Z]\w*[a-z]\w*\(|\bOptional\b|\b(Elemental|Swift)\w*\.[A-Z]|0x[0-9a-f]{8}/)
            {
                Issue.record("the help of '\(command.name)' has '\(match.0)'")
            }
        }
    }

    /// Lines that begin with two spaces are examples and tables.
    @Test
    func examplesFitIntoEightyColumns() {
        var count = 0
        for command in Self.commands {
            let lines = Set(Self.help(of: command, columns: 80).split(separator: "\n"))
            for line in command.type.configuration.discussion.split(separator: "\n") where line.hasPrefix("  ") {
                count += 1
                if !lines.contains(line) { Issue.record("the help of '\(command.name)' breaks this line: \(line)") }
            }
        }
        #expect(count > 100)
    }

    @Test
    func theStatusesAreExplained() {
        let help = Self.help(of: Self.commands[0], columns: 10_000)
        let line = help.split(separator: "\n").first { $0.hasPrefix("The exit status is ") }
        for status in CommandStatus.allCases.map(\.rawValue) + [130, 143] {
            #expect(line?.split { !$0.isNumber }.contains { $0 == "\(status)" } == true, "\(status)")
        }
    }
}
