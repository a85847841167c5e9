import Foundation
import TestSupport
import Testing

/// `elemental c64 run` and `elemental c64 cpu-test`.
struct CommodoreRunTests {
    /// A program at $C000: the joystick in port 2 becomes the border's colour.
    private static let joystick: [UInt8] = [
        0x00, 0xC0, 0xAD, 0x00, 0xDC, 0x49, 0x7F, 0x8D, 0x20, 0xD0, 0x4C, 0x00, 0xC0,
    ]

    private func withFile(_ bytes: [UInt8], _ body: (String) async throws -> Void) async throws {
        try await withFolder { folder in
            try Data(bytes).write(to: URL(filePath: folder + "/test.prg"))
            try await body(folder + "/test.prg")
        }
    }

    // MARK: - In a pipe

    @Test
    func inAPipeTheScreenIsPrintedAtTheEnd() async throws {
        try await withFile(Den.echo) { file in
            let result = try await expectSuccess(
                "c64", "run", file, "--frames", "200", "--type", "one\\n", input: ["two", "three"])
            #expect(result.count == 25)
            #expect(Array(result.prefix(4)) == ["ONE", "TWO", "THREE", ""])
        }
    }

    @Test(arguments: [SIGTERM, SIGHUP])
    func aPipeThatStaysOpenDoesNotHoldItUp(_ signal: Int32) async throws {
        try await withFile(Den.echo) { file in
            try await withCommand(["c64", "run", file, "--frames", "10"]) { child in
                try child.writeLine("one")
                try await eventually("it reads") { try ProcessFigures(of: child).catches(SIGHUP, SIGTERM) }
                try await child.expectExit(after: signal)
            }
        }
    }

    @Test
    func theEndIsToldAsJSON() async throws {
        try await withFile(Den.echo) { file in
            let result = try await ElementalProcess.run(
                "c64", "run", file, "--seconds", "2", "--standard", "ntsc", "--json")
            let event = try #require(result.output.first.flatMap { JSONLine($0) })
            #expect(result.output.count == 1 && event.event == "screen")
            #expect(event["border"] == "green" && event["background"] == "blue")
            #expect((119...121).contains(event.number("frames") ?? 0))
            let rows: [String]? = event["rows"]
            #expect(rows?.count == 25)
        }
    }

    @Test
    func picturesAreSaved() async throws {
        try await withFolder { folder in
            let (program, png, svg) = (folder + "/test.prg", folder + "/screen.png", folder + "/screen.svg")
            try Data(Den.echo).write(to: URL(filePath: program))
            try await expectSuccess("c64", "run", program, "--frames", "60", "--type", "HI", "--png", png, "--svg", svg)
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: png)))
            // Twice 384 by 272, as the header says.
            #expect(bytes.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
            #expect(bytes[16..<24] == [0, 0, 3, 0, 0, 0, 2, 0x20])
            let text = try String(contentsOfFile: svg, encoding: .utf8)
            // The border, the background, H and I.
            #expect(text.contains("fill=\"#588d43\"") && text.contains("fill=\"#352879\""))
            #expect(text.components(separatedBy: "<use ").count - 1 == 2)
            let missing = try await ElementalProcess.run(
                "c64", "run", program, "--frames", "1", "--png", folder + "/none/x.png")
            #expect(missing.status == .exited(1) && missing.errors.contains { $0.contains("cannot be written") })
        }
    }

    @Test
    func aMachineThatStopsSaysWhy() async throws {
        try await withFile([0x00, 0xC0, 0x02]) { file in
            let result = try await expectFailure("c64", "run", file, "--frames", "10")
            #expect(result.errors == ["elemental: the machine stopped: undocumented opcode $02 at $C000"])
        }
        try await withFile([0x00, 0xC0, 0x60]) { file in
            let rows = try await expectSuccess("c64", "run", file, "--frames", "10")
            #expect(rows.contains("READY."))
        }
        try await withFile([0x00]) { file in
            let result = try await expectFailure("c64", "run", file, "--frames", "10")
            #expect(result.errors.first?.contains("the program is empty") == true)
        }
    }

    @Test(arguments: [
        ["x.prg"], ["x.prg", "--frames", "0"], ["x.prg", "--frames", "1", "--seconds", "1"],
        ["x.prg", "--frames", "1", "--joystick", "3"], ["x.prg", "--frames", "1", "--baud", "9600"],
        ["x.prg", "--frames", "1", "--scale", "9"], ["x.prg", "--modem", "nowhere"], ["x.prg", "--standard", "secam"],
    ])
    func mistakes(_ arguments: [String]) throws { try Mistake.expect(in: ["c64", "run"] + arguments) }

    // MARK: - In a terminal

    @Test
    func aTerminalShowsTheScreenLiveAndTakesKeys() async throws {
        try await withFile(Den.echo) { file in
            try await TerminalProcess.with(ElementalProcess.path, ["c64", "run", file]) { terminal in
                let before = terminal.settingsAtFirst
                // Green border; the alternate screen; the line below.
                try await terminal.waitFor("\u{1B}[48;2;88;141;67m")
                try await terminal.waitFor("test.prg, pal; Ctrl-C ends")
                #expect(terminal.output.hasPrefix("\u{1B}[?1049h"))
                #expect(terminal.settings != before)
                try terminal.type("hello\rworle\u{7F}\u{7F}ld")
                try await terminal.waitFor("HELLO")
                try await terminal.waitFor("WORLD")
                // A cursor key in two pieces, then a character there.
                try terminal.type("\u{1B}[")
                try terminal.type("Bx")
                try await terminal.waitFor("     X")
                try terminal.type("\u{3}")
                let exit = try await terminal.waitForExit()
                #expect(exit == .exited(0))
                #expect(terminal.settings == before)
                try await terminal.waitFor("\u{1B}[?25h\u{1B}[?1049l")
            }
        }
    }

    @Test
    func theCursorKeysMoveAJoystick() async throws {
        try await withFile(Self.joystick) { file in
            let arguments = ["c64", "run", file, "--joystick", "2"]
            try await TerminalProcess.with(ElementalProcess.path, arguments) { terminal in
                try await terminal.waitFor("\u{1B}[48;2;0;0;0m")
                // Right is bit 3: orange. The button is bit 4, which is not part of a colour.
                try await hold("\u{1B}[C", on: terminal, until: "\u{1B}[48;2;111;79;37m")
                try await hold("\u{1B}[B", on: terminal, until: "\u{1B}[48;2;104;55;43m")
                terminal.send(signal: SIGTERM)
                let exit = try await terminal.waitForExit()
                #expect(exit == .exited(0))
            }
        }
    }

    /// A held key repeats; a frame may be skipped when the machine is late.
    private func hold(_ key: String, on terminal: TerminalProcess, until text: String) async throws {
        try await eventually("\(text.debugDescription) comes", every: .milliseconds(30)) {
            try terminal.type(key)
            return terminal.output.contains(text)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func aSignalRestoresTheTerminal(_ signal: Int32) async throws {
        try await withFile(Den.echo) { file in
            try await TerminalProcess.with(ElementalProcess.path, ["c64", "run", file]) { terminal in
                let before = terminal.settingsAtFirst
                try await terminal.waitFor("Ctrl-C ends")
                terminal.send(signal: signal)
                let exit = try await terminal.waitForExit()
                #expect(exit == .exited(0))
                #expect(terminal.settings == before)
                try await terminal.waitFor("\u{1B}[?1049l")
            }
        }
    }

    @Test
    func aSmallTerminalShowsTheScreenWithoutABorder() async throws {
        try await withFile(Den.echo) { file in
            let arguments = ["c64", "run", file, "--frames", "25"]
            try await TerminalProcess.with(ElementalProcess.path, arguments, columns: 40, rows: 25) { terminal in
                let exit = try await terminal.waitForExit()
                #expect(exit == .exited(0))
                #expect(terminal.output.contains("\u{1B}[25;1H") && !terminal.output.contains("\u{1B}[26;1H"))
                #expect(!terminal.output.contains("Ctrl-C"))
            }
        }
    }

    // MARK: - With a modem

    private static let connected: [UInt8] = [4, 9] + Array("Connected".utf8)
    /// Sets the border to green.
    private static let green: [UInt8] = [3, 6, 1, 1, 0, 0, 0, 5]

    /// A command of the program: its code and its bytes.
    private func command(from line: RawSocket) async throws -> [UInt8] {
        let head = try await line.read(2)
        return [head[0]] + (head[1] == 0 ? [] : try await line.read(Int(head[1])))
    }

    /// Answers the program as a gateway does, until that element has arrived that many times. On a busy machine the line may
    /// be away for so long that the program begins anew.
    ///
    /// - Parameter again: what a program that begins anew is sent.
    private func values(
        of element: UInt8, _ count: Int, from line: RawSocket, again: [UInt8] = []
    ) async throws {
        var left = count
        while left > 0, !Task.isCancelled {
            let command = try await command(from: line)
            try line.write(command[0] == 5 ? Self.connected + again : [1, 0])
            if command.starts(with: [6, element]) { left -= 1 }
        }
    }

    @Test(.enabled(if: CommodoreProgram.isAvailable))
    func theUserPortIsReachedOverTCPAndAgain() async throws {
        try await withFile(try await CommodoreProgram.prg) { file in
            let (listener, port) = try RawSocket.listen()
            try await withCommand(["c64", "run", file, "--modem", "127.0.0.1:\(port)", "--json"]) { machine in
                do {
                    let line = try await listener.accept()
                    // What it sent before it was connected is lost.
                    var command: [UInt8] = []
                    while command != [3] { command = try await self.command(from: line) }
                    try line.write([1, 0])
                    command = try await self.command(from: line)
                    #expect(command == [5] + Array("elemental:commodore".utf8))
                    try line.write(Self.connected)
                    try await values(of: 18, 1, from: line)
                    try line.write(Self.green)
                    // The program sends the clock once a second and gives the line up after six seconds without an answer:
                    // seven of these may be older, and by the eighth the panel shows the colour.
                    try await values(of: 18, 8, from: line, again: Self.green)
                }
                // The gateway disappears and returns: the program continues where it was.
                let line = try await listener.accept()
                // On a busy machine it may have begun anew meanwhile. It is answered until it exits.
                try await values(of: 18, 8, from: line, again: Self.green)
                async let rest: Void = values(of: 18, .max, from: line, again: Self.green)
                try await machine.expectExit(after: SIGTERM)
                try? await rest
                let end = try await machine.nextEvent("screen")
                #expect(end["border"] == "green")
                let rows: [String]? = end["rows"]
                #expect(rows?[1].hasPrefix("Line connected") == true)
                #expect(rows?[3].hasPrefix("Border  5") == true)
            }
        }
    }

    // MARK: - The processor's test

    @Test
    func aTestOfTheProcessorSucceedsOrFails() async throws {
        // LDX #3, DEX, BNE -3; JMP to itself.
        try await withFile([0xA2, 0x03, 0xCA, 0xD0, 0xFD, 0x4C, 0x05, 0x04]) { file in
            let common = ["c64", "cpu-test", file, "--load", "1024", "--start", "0x400"]
            let success = try await ChildProcess.run(ElementalProcess.path, common + ["--success", "$405"])
            #expect(success == "success after 19 cycles")
            try Mistake.expect(in: common + ["--success", "65536"], "--success")
            for (arguments, text) in [
                (common + ["--success", "0x0400"], "trapped at $0405"),
                (common + ["--success", "0x0405", "--cycles", "4"], "not finished"),
                (["c64", "cpu-test", file, "--load", "0xFFFF", "--start", "0", "--success", "0"], "does not fit"),
            ] {
                let result = try await expectFailure(ElementalProcess.run(arguments))
                #expect(result.errors.contains { $0.contains(text) }, "\(result)")
            }
        }
    }
}
