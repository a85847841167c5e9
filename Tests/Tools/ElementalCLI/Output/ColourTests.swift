import Foundation
import TestSupport
import Testing

@testable import ElementalCLI

/// The tables of `describe`, `browse` and `trust list`, in colour on a terminal alone.
struct ColourTests {
    private static let heading = "\u{1B}[1m"

    /// What a command writes to a terminal of its own.
    private static func terminal(_ environment: [String], _ arguments: [String]) async throws -> String {
        let command = environment + [try ElementalProcess.path] + arguments
        return try await TerminalProcess.with("/usr/bin/env", command, columns: 200) { terminal in
            let status = try await terminal.waitForExit()
            #expect(status == .exited(0), "\(terminal.output)")
            return terminal.output.replacing("\r\n", with: "\n")
        }
    }

    @Test
    func aTextInColourIsEscapedToo() {
        let text = Styled("a\u{1B}[2J\n\u{202E}", .bad)
        #expect(text.printable(inColour: true) == "\u{1B}[31m" + #"a\u{1B}[2J\n\u{202E}"# + "\u{1B}[0m")
        #expect(text.printable(inColour: false) == #"a\u{1B}[2J\n\u{202E}"#)
    }

    @Test("describe has colours of its own on a terminal, and escapes those of a service")
    func describe() async throws {
        let name = "a\u{1B}[31mb"
        try await Robot.with(["1:\(name):float=0.5"]) { _, target in
            let colours = ["-u", "NO_COLOR", "TERM=xterm"]
            let shown = try await Self.terminal(colours, ["describe", target])
            #expect(shown.contains("\(Self.heading)NAME\u{1B}[0m"), "\(shown.debugDescription)")
            #expect(shown.contains(#"a\u{1B}[31mb"#), "\(shown.debugDescription)")
            // The same as into a pipe, but for the colours, so that the columns are as wide.
            let plain = try await expectSuccess("describe", target)
            #expect(shown.replacing(#/\e\[\d*m/#, with: "") == plain.map { $0 + "\n" }.joined())
            #expect(!plain.joined().contains("\u{1B}"))
        }
    }

    @Test(arguments: [
        (["NO_COLOR=1", "TERM=xterm"], []), (["-u", "NO_COLOR", "TERM=dumb"], []),
        (["-u", "NO_COLOR", "-u", "TERM"], []), (["-u", "NO_COLOR", "TERM=xterm"], ["--json"]),
    ])
    func thereAreNoColoursWhereTheyAreNotWanted(_ environment: [String], _ options: [String]) async throws {
        try await Robot.with(["1:Speed:float=0.5"]) { _, target in
            let shown = try await Self.terminal(environment, ["describe", target] + options)
            #expect(shown.contains("Speed") && !shown.contains("\u{1B}"), "\(shown.debugDescription)")
        }
    }

    @Test("trust list is a table, with a row for each peer")
    func trustList() async throws {
        try await Serving.with { serving in
            let key = "mfrggzdfmztwq2lkmfrggzdfmztwq2lkmfrggzdfmztwq2lkmfra"
            try await expectSuccess(serving.run("trust", "add", key, "--name", "日本", "--role", "observe"))
            let rows = try await expectSuccess(serving.run("trust", "list"))
            #expect(rows.count == 2 && rows[0].contains(/^KIND    NAME  ROLE     SERVICES  FINGERPRINT$/), "\(rows)")
            #expect(rows[1].contains(/^client  日本  observe  all       mfrg-/), "\(rows)")
            let colours = ["-u", "NO_COLOR", "TERM=xterm"]
            let shown = try await Self.terminal(colours, ["trust", "list", "--state", serving.state])
            #expect(shown.contains("\(Self.heading)KIND\u{1B}[0m"), "\(shown.debugDescription)")
        }
    }
}
