import Foundation
import TestSupport
import Testing

/// `elemental c64 gateway` and `elemental c64 terminal`, each in a process of its own.
struct CommodoreTests {
    @Test(arguments: [["--listen", "127.0.0.1:0"], ["--pty"]])
    func aTerminalTalksToAGatewayThatClientsSee(_ line: [String]) async throws {
        try await Den.with(line + ["--service", "machine"]) { gateway, line, target in
            try await withCommand(["c64", "terminal", line, "--json"]) { terminal in
                try await gateway.nextEvent("line") { $0["state"] == "open" }
                for command in ["stop", "wifi", "connect elemental:hand"] { try terminal.writeLine(command) }
                let record = try await terminal.nextEvent("record") {
                    $0["name"] == "WS" && $0["content"] == "\"Connected\""
                }
                // How long the terminal has been there, and not when it was.
                #expect((0..<3600).contains(record.number("elapsed") ?? -1) && record.number("time") == nil)
                try await expectSuccess("set", target, "border=6", "print=Hello")
                // In any order: a colour's newest value may overtake a text.
                for content in ["print=\"Hello\"", "border=6"] {
                    try await terminal.nextEvent("record") {
                        $0["name"] == "DATA" && ($0["content"] ?? "").contains(content)
                    }
                }
                try terminal.writeLine("value 4 $C849")
                let value = try await gateway.nextEvent("value") { $0["element"] == "line" && $0["value"] == "Hi" }
                let names: [String?] = [value["service"], value["instance"]]
                #expect(names == ["machine", "Den"])
                try terminal.writeLine("nonsense")
                try await terminal.nextLine(of: .error) { $0.contains("nonsense") && $0.contains("help") }
                let get = try await ElementalProcess.run("get", target, "present", "program", "line")
                #expect(get.output == ["present=true", "program=hand", "line=Hi"])
                terminal.closeInput()
                try await terminal.expectExit()
            }
            try await gateway.nextEvent("line") { $0["state"] == "lost" }
            try await gateway.expectExit(after: SIGINT)
        }
    }

    @Test(.backstop)
    func anotherHostGetsALineWhenItsConnectionHasEnded() async throws {
        try await Den.with(["--listen", "127.0.0.1:0"]) { gateway, line, _ in
            let port = try port(of: line)
            func isOpen() async throws { try await gateway.nextEvent("line") { $0["state"] == "open" } }
            let first = try RawSocket.connect(to: port)
            try await isOpen()
            let other = try RawSocket.connect(to: port, from: "127.0.0.2")
            try first.write([0])
            #expect(try await other.readToEnd().isEmpty)
            try await gateway.nextEvent("line") { $0["state"] == "refused" }
            // One that waits has it next, and another one of its host at once.
            let second = try RawSocket.connect(to: port, from: "127.0.0.2")
            first.closeOutput()
            try await isOpen()
            let third = try RawSocket.connect(to: port, from: "127.0.0.2")
            #expect(try await second.readToEnd().isEmpty)
            try await isOpen()
            third.closeOutput()
            try await gateway.nextEvent("line") {
                $0["state"] == "lost" && $0["message"] != "replaced by another connection"
            }
        }
    }

    @Test
    func whatIsTypedBeforeTheLineIsOpenWaits() async throws {
        try await withCommand(["c64", "terminal", "--listen", "127.0.0.1:0", "--json"]) { terminal in
            let ready = try await terminal.nextEvent("line") { $0["state"] == "ready" }
            // When it answers, it has read everything up to here.
            try terminal.writeLine("nothing of this kind\nstop\nwifi")
            try await terminal.nextLine(of: .error) { $0.contains("nothing") }
            let modem = try RawSocket.connect(to: port(of: try #require(ready["line"])))
            #expect(try await modem.read(4) == [4, 0, 3, 0])
            try await terminal.expectExit(after: SIGINT)
        }
    }

    @Test
    func aTerminalEndsThoughItsLineNeverOpens() async throws {
        try await withCommand(["c64", "terminal", "--listen", "127.0.0.1:0", "--json"]) { terminal in
            try await terminal.nextEvent("line") { $0["state"] == "ready" }
            try terminal.writeLine("stop")
            try await terminal.expectExit(after: SIGINT)
        }
    }

    @Test(.enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"))
    func aMappedAddressLeadsToARealHub() async throws {
        try await Peers.withHub { _, port in
            let (asked, hub) = ("ws://192.168.86.250:5000/chat", "127.0.0.1:\(port)/hub")
            try await Den.with(["--listen", "127.0.0.1:0", "--map", "\(asked)=ws://\(hub)"]) { _, line, target in
                try await withCommand(["c64", "terminal", line, "--json"]) { terminal in
                    for command in ["stop", "wifi", "connect \(asked)"] { try terminal.writeLine(command) }
                    try await terminal.nextEvent("record") { $0["name"] == "WS" && $0["content"] == "\"Connected\"" }
                    let handshake = Array(#"{"protocol":"messagepack","version":1}"#.utf8) + [0x1E]
                    try terminal.writeLine(
                        "send $" + handshake.map { String(Int($0) + 256, radix: 16).suffix(2) }.joined())
                    try await terminal.nextEvent("record") {
                        $0["name"] == "DATA" && ($0["content"] ?? "").contains("{}")
                    }
                    try await expectSuccess("signalr", "send", "http://\(hub)", "Broadcast", "Ada", "to the den")
                    try await terminal.nextEvent("record") {
                        let content = $0["content"] ?? ""
                        return $0["name"] == "DATA" && content.contains("Ada") && content.contains("to the den")
                    }
                    terminal.closeInput()
                    #expect(try await terminal.waitForExit() == .exited(0))
                }
            }
        }
    }

    @Test
    func aVirtualMachineIsTypedOnAndSeen() async throws {
        try await withFolder { try await typeOnAVirtualMachine(in: $0) }
    }

    private func typeOnAVirtualMachine(in folder: String) async throws {
        let (program, seen, last, svg) = ("\(folder)/echo.prg", "\(folder)/seen", "\(folder)/last", "\(folder)/svg")
        try Data(Den.echo).write(to: URL(filePath: program))
        try await Den.with(["--virtual", program, "--png", last, "--svg", svg]) { gateway, _, target in
            let names = try await ElementalProcess.run("describe", target).output
            for name in ["screen", "keys"] {
                #expect(names.contains { $0.contains(name) }, "\(names)")
            }
            // Longer than what may wait.
            try gateway.writeLine(String(repeating: "x", count: 40 * 30))
            try gateway.writeLine("\u{E9}nd")
            try await eventually("a picture with text") {
                try await ChildProcess.run(
                    "sh", ["-c", "exec \"$0\" get \"$1\" screen --raw > \"$2\"", ElementalProcess.path, target, seen])
                return try Data(contentsOf: URL(filePath: seen)).count > 1000
            }
            #expect(try Data(contentsOf: URL(filePath: seen)).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let refused = try await expectFailure("set", target, "keys=\u{20AC}", status: 2)
            #expect(refused.errors.joined().contains("U+20AC EURO SIGN"), "\(refused.errors)")
            try await expectSuccess("set", target, "joystick2=16")
            try await eventually("it is released") {
                try await ElementalProcess.run("get", target, "joystick2").output == ["joystick2=0"]
            }
            try await eventually("there is room") {
                try await ElementalProcess.run("set", target, "keys=bye").status == .exited(0)
            }
            try await gateway.expectExit(after: SIGINT)
            let screen = try await gateway.nextEvent("screen")
            let rows: [String]? = screen["rows"]
            #expect(screen["border"] == "green" && rows?.count == 25)
        }
        #expect(try String(contentsOfFile: svg, encoding: .utf8).hasPrefix("<svg "))
        #expect(try Data(contentsOf: URL(filePath: last)).starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }

    @Test(arguments: [
        (["c64", "gateway", "--pty", "--map", "ws://a/b"], "ADDRESS=URL"),
        (["c64", "gateway"], "--serial"), (["c64", "gateway", "--pty", "--listen", "127.0.0.1:0"], "one of"),
        (["c64", "gateway", "--pty", "--baud", "9600"], "2400"),
        (["c64", "gateway", "--pty", "--acia", "--baud", "115200"], "38400"),
        (["c64", "gateway", "--virtual", "x.prg", "--acia"], "--virtual has no ACIA"),
        (["c64", "gateway", "--listen", "nowhere"], "HOST:PORT"),
        (["c64", "gateway", "--pty", "--ip232"], "--listen"), (["c64", "terminal", "nowhere"], "HOST:PORT"),
        (["c64", "terminal"], "LINE"), (["c64", "gateway", "--pty", "--pace", "0"], "--pace"),
        // Pictures need a machine whose screen is known.
        (["c64", "gateway", "--pty", "--png", "x.png"], ""),
    ])
    func mistakes(_ arguments: [String], _ hint: String) throws { try Mistake.expect(in: arguments, hint) }

    @Test(
        arguments: [
            (["c64", "gateway", "--serial", "/dev/nothing-there"], "plugged in", 1),
            (["c64", "gateway", "--virtual", "/nowhere.prg"], "no such file", 3),
            (["c64", "terminal", "/dev/null"], "not a serial device", 1),
        ] as [([String], String, Int32)])
    func invalidArgumentsFailWithTheReason(_ arguments: [String], _ hint: String, _ status: Int32) async throws {
        let result = try await expectFailure(ElementalProcess.run(arguments), status: status)
        #expect(result.errors.joined().contains(hint), "\(result)")
    }
}
