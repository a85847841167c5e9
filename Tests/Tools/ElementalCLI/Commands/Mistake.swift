import ArgumentParser
import Testing

@testable import ElementalCLI

/// What the parser says of a command line, in this process: the status and the text with which the command would end.
struct Mistake {
    let status: Int32
    let text: String

    /// Nil if there is no mistake.
    init?(in arguments: [String]) {
        do {
            _ = try ElementalCommand.parsed(arguments)
            return nil
        } catch {
            status = ElementalCommand.exitCode(for: error).rawValue
            text = ElementalCommand.fullMessage(for: error)
        }
    }

    static func expect(
        in arguments: [String], _ hint: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let mistake = try #require(Mistake(in: arguments), "no mistake", sourceLocation: sourceLocation)
        #expect(mistake.status == 64, "\(mistake)", sourceLocation: sourceLocation)
        #expect(
            hint.isEmpty || mistake.text.lowercased().contains(hint.lowercased()), "\(mistake)",
            sourceLocation: sourceLocation)
    }
}
