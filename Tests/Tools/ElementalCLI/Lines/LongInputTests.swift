import Foundation
import TestSupport
import Testing

struct LongInputTests {
    private static let elements = ["1:s:string", "2:v:int32=0", "3:d:data", "4:f:float2"]
    private static let service = Robot.arguments(elements)
    private static let megabyte = 1 << 20

    /// The processor time that a process uses for a line, until it has answered.
    private func cost(
        of line: String, in child: ChildProcess, until isAnswered: (ChildProcess) async throws -> Void
    ) async throws -> Double {
        let before = try ProcessFigures(of: child).processorTime
        try child.writeLine(line)
        try await isAnswered(child)
        return try ProcessFigures(of: child).processorTime - before
    }

    /// Commands of a session. The first two run in the gate: names with no end, and choices among long texts.
    private static let commands = [
        ("set ", "a= "), ("watch \"", "e\u{301}"), ("set s=", "x"), ("set nothing=", "x"), ("set d=", "0g"),
        ("set d=", "0a"), ("set f=", "1,"), ("set v=", "1"), ("", "x"), ("", "get "), ("", "="), ("set ", "="),
        ("get ", "a"), ("get ", "a "), ("", " "),
    ]
    /// Lines of a service, of which the first runs in the gate.
    private static let lines = ["v =", "=", "x", "v", "v=1", "s=", " "]

    @Test(
        "a session takes a line of 8 MiB in seconds of processor time, not in minutes",
        arguments: Depth.isAll ? commands : Array(commands[..<2]))
    func longCommands(_ beginning: String, _ piece: String) async throws {
        try await Robot.with(Self.elements) { _, target in
            try await withCommand(["connect", target, "--json"]) { session in
                try session.writeLine("ping")
                try await session.nextEvent("ping")
                let line = beginning + String(repeating: piece, count: 8 * Self.megabyte / piece.utf8.count)
                let time = try await cost(of: line + "\nping", in: session) { try await $0.nextEvent("ping") }
                #expect(time < 20 * Patience.factor, "\(time) s for '\(beginning)\(piece)…'")
                let longest = session.lines(of: .output).map(\.utf8.count).max() ?? 0
                #expect(longest < 2000, "a message repeats what was typed")
            }
        }
    }

    @Test(
        "a published service takes a line of 8 MiB in seconds of processor time, not in minutes",
        arguments: Depth.isAll ? lines : Array(lines[..<1]))
    func longLines(_ piece: String) async throws {
        try await Robot.with(Self.elements) { service, _ in
            let line = String(repeating: piece, count: 8 * Self.megabyte / piece.utf8.count)
            let time = try await cost(of: line + "\nnothing=1", in: service) {
                try await $0.nextLine(of: .error) { $0.contains("'nothing'") }
            }
            #expect(time < 20 * Patience.factor, "\(time) s for '\(piece)…'")
            let longest = service.lines(of: .error).map(\.utf8.count).max() ?? 0
            #expect(longest < 2000, "a message repeats what was typed")
        }
    }

    /// Runs the command with the output of a shell script as its standard input.
    private func feed<Result>(
        _ script: String, to arguments: [String], _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let shell =
            ["-c", "exec \"$@\" < <({ \(script); } 2>/dev/null)", "bash", try ElementalProcess.path] + arguments
        return try await ChildProcess.with("bash", shell, body)
    }

    /// Waits until the line behind what was ignored counts.
    private func expectValue(_ value: Int, of service: ChildProcess) async throws {
        let port = try await service.listeningPort()
        try await eventually("v is \(value)") {
            try await ElementalProcess.run("get", "127.0.0.1:\(port)", "v").output == ["v=\(value)"]
        }
    }

    @Test("a line that is too long is reported and skipped without being kept, and the next one counts")
    func aLineThatIsTooLong() async throws {
        let script = "echo v=1; head -c 400000000 /dev/zero | tr '\\0' =; echo; echo v=2"
        try await feed(script, to: Self.service + ["--stay"]) { service in
            try await service.nextLine(of: .error) { $0.contains("ignored") && $0.contains("longer than") }
            try await expectValue(2, of: service)
            expectMemory(try ProcessFigures(of: service).peakMemory, below: 300_000)
        }
    }

    @Test("a session continues after a line that is too long")
    func aCommandThatIsTooLong() async throws {
        try await Robot.with(Self.elements) { _, target in
            let script = "head -c 200000000 /dev/zero | tr '\\0' a; echo; echo ping; echo quit"
            try await feed(script, to: ["connect", target, "--json"]) { session in
                let error = try await session.nextEvent("error")
                let message: String? = error["message"]
                #expect(message?.contains("longer than") == true, "\(session.transcript)")
                try await session.nextEvent("ping")
                try await session.expectExit()
            }
        }
    }

    @Test("a terminal's line that is too long is reported and skipped")
    func aTerminalLineThatIsTooLong() async throws {
        let script = "head -c 20000000 /dev/zero | tr '\\0' a; echo; echo frobnicate"
        try await feed(script, to: ["c64", "terminal", "--pty"]) { terminal in
            try await terminal.nextLine(of: .error) { $0.contains("ignored") && $0.contains("longer than") }
            try await terminal.nextLine(of: .error) { $0.contains("frobnicate") }
            try await terminal.expectExit()
        }
    }

    @Test(
        "a line for a virtual Commodore's keyboard that is too long is told, and one without an end keeps nobody waiting"
    )
    func aTypedLineThatIsTooLong() async throws {
        try await withFolder { folder in
            try Data(Den.loop).write(to: URL(filePath: folder + "/loop.prg"))
            try await typeTooLongALine(folder + "/loop.prg")
        }
    }

    private func typeTooLongALine(_ program: String) async throws {
        let arguments = ["c64", "gateway", "--virtual", program, "--unlisted", "--address", "127.0.0.1", "--json"]
        let script = "head -c 20000000 /dev/zero | tr '\\0' a; echo; exec yes"
        try await feed(script, to: arguments) { gateway in
            try await gateway.nextLine(of: .error) { $0.contains("ignored") && $0.contains("longer than") }
            try await gateway.expectExit(after: SIGINT)
            #expect(gateway.lines(of: .output).contains { $0.contains("\"screen\"") }, "\(gateway.transcript)")
        }
    }

    @Test("text that is not UTF-8 is refused, not converted")
    func invalidText() async throws {
        try await feed("printf 's=a\\377b\\nv=7\\n'", to: Self.service + ["--stay"]) { service in
            try await service.nextLine(of: .error) { $0.contains("ignored") && $0.contains("UTF-8") }
            try await expectValue(7, of: service)
        }
    }

    @Test("many short lines are read at a constant cost per line")
    func manyLines() async throws {
        // Empty lines, of which one read returns 65,536.
        func processorTime(lines: Int) async throws -> Double {
            let script = "yes '' | head -c \(lines); echo v=3"
            return try await feed(script, to: Self.service + ["--stay"]) { service in
                try await expectValue(3, of: service)
                return try ProcessFigures(of: service).processorTime
            }
        }
        let few = try await processorTime(lines: 30_000)
        let many = try await processorTime(lines: 300_000)
        // 10 times as many; with a cost that grows with them it would be 100 times.
        #expect(many < 30 * few, "\(few) s and \(many) s")
    }
}
