import Foundation
import TestSupport
import Testing

/// `elemental publish --from`: devices that are made of commands.
struct PublishFromTests {
    /// Runs a service from a file in a folder of its own during the body.
    private func withService(
        _ script: String, _ body: (_ service: ChildProcess, _ target: String, _ folder: URL) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let file = folder + "/elements"
            try script.replacing("{folder}", with: folder).write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = ["publish", "pi", "--from", file, "--unlisted", "--address", "127.0.0.1", "--json"]
            try await withCommand(arguments) { service in
                let target = "127.0.0.1:\(try await service.listeningPort())"
                try await body(service, target, URL(filePath: folder))
            }
        }
    }

    private func text(_ file: String, in folder: URL) -> String {
        (try? String(contentsOf: folder.appending(path: file), encoding: .utf8)) ?? ""
    }

    @Test(.backstop)
    func commandsGiveReadingsAndTakeValues() async throws {
        let script = """
            1:Load:double:ro
                read 0.1: cut -d' ' -f1 /proc/loadavg
            2:Fan:bool=off
                write: cat >> {folder}/fan
            3:Count:uint32:ro
                follow: i=0; while sleep 0.05; do i=$((i + 1)); echo $i; done
            4:Picture:data:ro
                read 60: printf '\\211PNG'
            5:Note:string
                write: cat >> {folder}/note
            """
        try await withService(script) { _, target, folder in
            let output = try await expectSuccess("get", target, "Load", "Picture")
            #expect(output.first?.hasPrefix("Load=") == true)
            #expect(output.last == "Picture=89504e47")
            try await withCommand(["watch", target, "Count", "--count", "5", "--json"]) {
                try await $0.expectExit()
            }
            // Nothing from the network becomes part of a command.
            let note = "$(touch \(folder.path)/evil) `id` ' \" ; exit 1"
            try await expectSuccess("set", target, "Fan=on", "Note=\(note)")
            try await eventually("the commands got the values") {
                text("fan", in: folder) == "true\n" && text("note", in: folder) == note + "\n"
            }
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "evil").path))
        }
    }

    /// What a client sets can be part of a complaint.
    @Test(.backstop)
    func whatCommandsWriteToStandardErrorIsShownInPrintableLinesAndNotWithoutEnd() async throws {
        let script = """
            1:Bad:uint8:ro
                read 60: printf 'bad \\033[2J\\377\\nvalue' >&2; echo 1
            2:Flood:uint8:ro
                read 60: yes | head -c 200000 >&2; echo 2
            """
        try await withFolder { folder in
            try script.write(toFile: folder + "/elements", atomically: true, encoding: .utf8)
            let arguments = ["publish", "pi", "--from", folder + "/elements", "--unlisted", "--address", "127.0.0.1"]
            try await withCommand(arguments) { service in
                for text in ["'Bad': read says: bad \\u{1B}[2J\u{FFFD}", "'Bad': read says: value"] {
                    try await service.nextLine(of: .error, text) { $0 == text }
                }
                try await service.nextLine(of: .error, "what was left out") {
                    $0.hasPrefix("'Flood': read says: (and ") && $0.hasSuffix(" bytes more)")
                }
                let lines = service.lines(of: .error)
                #expect(lines.joined().utf8.count < 8192 && !lines.joined().contains("\u{1B}"))
            }
        }
    }

    @Test(.backstop)
    func filesOutputAndInputMayComeFromWindows() async throws {
        let script = """
            \u{FEFF}1:Text:string:ro\r
                read 60: printf '\\357\\273\\277hello\\r\\nworld\\r\\n'\r
            2:Number:uint8:ro\r
                read 60: printf '7\\r\\n8\\r\\n'\r
            3:Raw:data:ro\r
                read 60: printf '\\357\\273\\2771\\r\\n'\r
            """
        try await withService(script) { _, target, _ in
            let output = try await expectSuccess("get", target, "Text", "Number", "Raw")
            #expect(output == ["Text=hello", "Number=7", "Raw=efbbbf310d0a"])
        }
        let elements = ["--element", "1:Text:string", "--element", "2:Number:uint8"]
        let arguments = ["publish", "pi", "--unlisted", "--address", "127.0.0.1", "--json"] + elements
        try await withCommand(arguments) { service in
            for line in ["\u{FEFF}Text=a\r", "Number=7\r"] { try service.writeLine(line) }
            let output = try await expectSuccess(
                "get", "127.0.0.1:\(try await service.listeningPort())", "Text", "Number")
            #expect(output == ["Text=a", "Number=7"])
        }
    }

    /// A command that outlives the service would keep its port, and the connections of its clients.
    @Test(.backstop)
    func commandsInheritOnlyTheirInputOutputAndErrors() async throws {
        let script = """
            1:Open:string:ro
                read 0.05: cd /proc/$$/fd; echo [0-9]*
            """
        try await withService(script) { _, target, _ in
            // The last is that of the folder, which the shell reads.
            let output = try await expectSuccess("get", target, "Open")
            #expect(output == ["Open=0 1 2 3"])
        }
    }

    @Test(.backstop)
    func whatFailsHangsOrFloodsHarmsNobody() async throws {
        let script = """
            1:Good:uint8:ro
                read 0.1: echo 7
            2:Broken:uint8:ro
                read 0.1: exit 3
            3:Wrong:uint8:ro
                read 0.1: echo 700
            4:Hanging:uint8:ro
                read 0.1: echo $$ > {folder}/pid; sleep 1000
            5:Flood:uint8:ro
                follow: yes 9
            6:Missing:uint8:ro
                follow: /nowhere/program 2> /dev/null
            7:Slow:uint8
                write: cat >> {folder}/slow; while [ ! -e {folder}/go ]; do sleep 0.02; done
            """
        try await withService(script) { service, target, folder in
            for (element, part) in [("Broken", "status 3"), ("Wrong", "700"), ("Missing", "status 127")] {
                try await service.nextEvent("command") { event in
                    let reason: String = event["reason"] ?? ""
                    return event["element"] == element && event["state"] == "failed" && reason.contains(part)
                }
            }
            let output = try await expectSuccess("get", target, "Good", "Flood")
            #expect(output == ["Good=7", "Flood=9"])
            // A command gets the newest value once it is done with the one before.
            let first = try await expectSuccess("set", target, "Slow=1")
            try await eventually("the command has the first value") { text("slow", in: folder) == "1\n" }
            let others = try await ElementalProcess.run(["set", target] + (2...20).map { "Slow=\($0)" })
            #expect(others.status == .exited(0))
            try Data().write(to: folder.appending(path: "go"))
            try await eventually("the newest value came") { text("slow", in: folder).hasSuffix("\n20\n") }
            #expect(text("slow", in: folder) == "1\n20\n")
            try await eventually("the hanging command runs") { !text("pid", in: folder).isEmpty }
            let pid = try #require(pid_t(text("pid", in: folder).trimmingCharacters(in: .whitespacesAndNewlines)))
            try await service.expectExit(after: SIGTERM)
            try await eventually("its commands have ended with it") { kill(pid, 0) != 0 }
        }
    }

    @Test(.backstop)
    func theFileIsReadAgain() async throws {
        try await withService("1:Value:uint8:ro\n    read 0.1: echo 1") { service, target, folder in
            let file = folder.appending(path: "elements")
            func write(_ text: String) throws {
                try text.write(to: file, atomically: true, encoding: .utf8)
                service.send(signal: SIGHUP)
            }
            func value(_ name: String) async throws -> String? {
                try await ElementalProcess.run("get", target, name).output.first
            }
            try await eventually("the first command ran") { try await value("Value") == "Value=1" }
            // Another command: clients stay connected.
            try await withCommand(["watch", target, "Value", "--json"]) { watch in
                try write("1:Value:uint8:ro\n    read 0.1: echo 2")
                try await watch.nextEvent("value") { $0.number("value") == 2 }
            }
            // A mistake changes nothing.
            try write("1:Value:uint8:ro\n    reed 0.1: echo 3")
            try await service.nextLine(of: .error, "what is wrong") { $0.contains("line 2") }
            let unchanged = try await value("Value")
            #expect(unchanged == "Value=2")
            // Other elements: at the same port.
            try write("1:Other:uint8:ro\n    read 0.1: echo 4")
            let stopped = try await service.nextEvent("stopped")
            try await service.nextEvent("listening", after: stopped.place)
            try await eventually("the other element is there") { try await value("Other") == "Other=4" }
        }
    }

    @Test
    func mistakesAreToldAtOnce() async throws {
        try Mistake.expect(in: ["publish", "pi", "--from", "x", "--element", "1:A:bool"])
        try Mistake.expect(in: ["publish", "pi"])
        let missing = try await expectFailure("publish", "pi", "--from", "/nowhere/elements")
        #expect(missing.errors.contains { $0.contains("/nowhere/elements") })
    }
}
