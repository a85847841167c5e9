import ArgumentParser
import TestSupport
import Testing

@testable import ElementalCLI

/// The options of one letter.
struct ShortOptionTests {
    @Test("a letter means the same wherever it is taken")
    func meanings() {
        let known = ["-j": "--json", "-v": "--verbose", "-t": "--timeout", "-n": "--count", "-h": "--help"]
        var seen: Set<String> = []
        func check(_ command: any ParsableCommand.Type) {
            let help = ElementalCommand.helpMessage(for: command, columns: 200)
            for match in help.matches(of: /\n  (-[a-zA-Z0-9]), (--[a-z-]+)/) {
                #expect(known[String(match.1)] == String(match.2), "\(command)")
                seen.insert(String(match.1))
            }
            // No long form without its letter.
            for (letter, long) in known { #expect(!help.contains("\n  \(long)"), "\(command) lacks \(letter)") }
            command.configuration.subcommands.forEach(check)
        }
        check(ElementalCommand.self)
        #expect(seen == Set(known.keys))
    }

    @Test("they do what the long ones do, also one behind the other")
    func use() async throws {
        try await Robot.with(["1:Speed:float=0.5"]) { _, target in
            let output = try await expectSuccess("watch", target, "-jv", "-t", Patience.seconds, "-n", "1")
            #expect(output.compactMap { JSONLine($0) }.contains { $0.event == "value" }, "\(output)")
        }
        for option in ["-j", "-vj", "--json"] {
            let mistake = try await ElementalProcess.run("get", "127.0.0.1:0", "Speed", option)
            #expect(JSONLine(mistake.output.first ?? "")?.event == "error", "\(mistake)")
        }
        for option in ["-x", "--jq", "j"] {
            let mistake = try await ElementalProcess.run("get", "127.0.0.1:0", "Speed", option)
            #expect(mistake.output.isEmpty, "\(mistake)")
        }
    }
}
