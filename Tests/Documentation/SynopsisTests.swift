import Foundation
import TestSupport
import Testing

/// The synopses of the command line's page name the options that the commands have.
struct SynopsisTests {
    /// A synopsis: a paragraph of the page that is one command.
    struct Synopsis: Sendable, CustomTestStringConvertible {
        let command: [String]
        let options: Set<String>

        var testDescription: String { command.joined(separator: " ") }

        static let all: [Synopsis] = {
            let text = (try? Page.all.first { $0.name == "CommandLine.md" }?.text) ?? ""
            return text.components(separatedBy: "\n").compactMap { line in
                guard let match = line.wholeMatch(of: /`elemental ((?:[a-z0-9-]+ )+)?(.*)`/), let command = match.1
                else { return nil }
                // LINE is explained below the synopsis.
                let below = text.range(of: line).map { text[$0.upperBound...] }
                let explanation =
                    match.2.hasPrefix("LINE") ? below?.firstMatch(of: /LINE is one of [^.]*(\.prg[^.]*)?[.;]/) : nil
                let options = (match.2 + (explanation?.0 ?? "")).matches(of: /--[a-z0-9-]+/).map { String($0.0) }
                return Synopsis(command: command.split(separator: " ").map(String.init), options: Set(options))
            }
        }()
    }

    @Test
    func everyCommandHasASynopsis() {
        let commands = Set(Synopsis.all.map { $0.command.joined(separator: " ") })
        #expect(
            commands == [
                "publish", "browse", "describe", "get", "set", "watch", "connect", "serial", "c64 gateway",
                "c64 terminal", "c64 run", "c64 cpu-test", "signalr call", "signalr send", "signalr stream",
                "signalr listen", "signalr bridge", "mqtt bridge", "mqtt forget", "osc", "dashboard", "metrics",
                "record", "replay", "export", "info", "doctor", "bench latency", "bench throughput", "bench fanout",
                "bench serve", "trust show", "trust list", "trust add", "trust revoke", "trust reset", "pair",
                "open-pairing", "alias", "history clear",
            ])
    }

    @Test(arguments: Synopsis.all)
    func theOptionsAreThoseOfTheCommand(_ synopsis: Synopsis) async throws {
        let help = try await ChildProcess.run(BuiltProduct.path(of: "elemental"), ["help"] + synopsis.command)
        let listing = help.components(separatedBy: "OPTIONS:").last ?? ""
        let options = Set(listing.matches(of: /\n  (?:-[a-z], )?(--[a-z0-9-]+)/).map { String($0.1) })
        #expect(!options.isEmpty, "\(help)")
        let unknown = synopsis.options.subtracting(options)
        #expect(unknown.isEmpty, "elemental \(synopsis.testDescription) has no \(unknown)")
        // What many commands take is in the page's tables instead, and two options in the text.
        let page = try #require(Page.all.first { $0.name == "CommandLine.md" })
        let text = try page.text
        let tables = text.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }.joined()
        let untold = options.subtracting(synopsis.options).filter { option in
            !tables.contains("`\(option)") && !["--version", "--name", "--max-value"].contains(option)
        }
        #expect(untold.isEmpty, "the synopsis of elemental \(synopsis.testDescription) lacks \(untold)")
        #expect(text.contains("`--max-value BYTES`") && text.contains("`--name NAME`"))
    }
}
