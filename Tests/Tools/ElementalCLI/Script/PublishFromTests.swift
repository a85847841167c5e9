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
                for text in ["'Bad': read printed: bad \\u{1B}[2J\u{FFFD}", "'Bad': read printed: value"] {
                    try await service.nextLine(of: .error, text) { $0 == text }
                }
                try await service.nextLine(of: .error, "what was left out") {
                    $0.hasPrefix("'Flood': read printed: (and ") && $0.hasSuffix(" bytes more)")
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
                    let message: String = event["message"] ?? ""
                    return event["element"] == element && event["state"] == "failed" && message.contains(part)
                }
            }
            let output = try await expectSuccess("get", target, "Good", "Flood")
            #expect(output == ["Good=7", "Flood=9"])
            // A command gets the newest value once it is done with the one before.
            let patience = ["--timeout", Patience.seconds]
            try await withCommand(["set", target, "Slow=1"] + patience) { first in
                try await eventually("the command has the first value") { text("slow", in: folder) == "1\n" }
                try await withCommand(["set", target] + (2...20).map { "Slow=\($0)" } + patience) { others in
                    try await service.nextEvent("value") { $0["element"] == "Slow" && $0.number("value") == 20 }
                    #expect(first.isRunning && others.isRunning)
                    try Data().write(to: folder.appending(path: "go"))
                    try await others.expectExit()
                }
                try await first.expectExit()
            }
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
                service.send(signal: SIGUSR1)
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

    /// Whether a process runs. One that has ended and that nobody has waited for has no command line.
    private func isRunning(_ pid: String) -> Bool {
        guard let pid = pid_t(pid.trimmingCharacters(in: .newlines)) else { return false }
        let line = try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)
        return line?.isEmpty == false
    }

    @Test(.backstop)
    func aSilentCommandEndsWithAServiceThatIsKilled() async throws {
        let script = """
            1:Silent:string:ro
                follow: echo $$ > {folder}/pid; exec sleep 100000
            2:Busy:uint8:ro
                read 0.05: echo 1; echo >> {folder}/read
            """
        try await withService(script) { service, _, folder in
            try await eventually("the command runs") { isRunning(text("pid", in: folder)) }
            // The service has gone on since it started the command.
            let count = text("read", in: folder).utf8.count
            try await eventually("it is read") { text("read", in: folder).utf8.count > count + 2 }
            service.send(signal: SIGKILL)
            try await eventually("it ends") { !isRunning(text("pid", in: folder)) }
        }
    }

    @Test(.backstop)
    func withATerminalTheHangupEndsItAndAnotherSignalReadsTheFile() async throws {
        try await withFolder { folder in
            let file = folder + "/elements"
            try "1:Value:uint8:ro".write(toFile: file, atomically: true, encoding: .utf8)
            let arguments = ["publish", "pi", "--from", file, "--unlisted", "--address", "127.0.0.1"]
            try await TerminalProcess.with(try ElementalProcess.path, arguments) { service in
                try await service.waitFor("listens")
                try "1:Value:uint8:ro\n  follow: exit 9".write(toFile: file, atomically: true, encoding: .utf8)
                service.send(signal: SIGUSR1)
                try await service.waitFor("was read again")
                try await service.waitFor("status 9")
                service.send(signal: SIGHUP)
                let status = try await service.waitForExit()
                #expect(status == .exited(0))
            }
        }
    }

    @Test(.backstop)
    func aValueThatItsCommandDoesNotTakeIsRefusedAndGoesBack() async throws {
        let script = """
            1:Level:uint8=1
                write: read -r value; [ "$value" -lt 10 ] || exit 3
            2:Note:string=old
                write: cat >> {folder}/note
            3:Line:string=old
                sink: while read -r line; do echo "$line" >> {folder}/line; [ "$line" != end ] || exit 4; done
            4:Free:uint8=1
            """
        try await withService(script) { service, target, folder in
            try await withCommand(["watch", target, "--json"]) { watch in
                try await watch.nextEvent("value") { $0["element"] == "Level" && $0.number("value") == 1 }
                let failed = try await expectFailure("set", target, "Level=10", status: 2)
                #expect(failed.errors.joined().contains("it ended with status 3"))
                for text in ["a\nb", "a\rb", "a\n"] {
                    for name in ["Note", "Line"] {
                        let refused = try await expectFailure("set", target, "\(name)=\(text)", status: 2)
                        #expect(refused.errors.joined().contains("takes one line"), "\(refused)")
                    }
                }
                let output = try await expectSuccess("get", target, "Level", "Note", "Line")
                #expect(output == ["Level=1", "Note=old", "Line=old"])
                try await expectSuccess("set", target, "Level=9", "Note=new", "Line=one", "Free=2")
                // The others have never heard of what was refused.
                try await watch.nextEvent("value") { $0["element"] == "Free" && $0.number("value") == 2 }
                try await watch.nextEvent("value") { $0["element"] == "Level" && $0.number("value") == 9 }
                let levels = watch.lines(of: .output).compactMap { JSONLine($0) }.filter { $0["element"] == "Level" }
                #expect(levels.compactMap { $0.number("value") } == [1, 9])
            }
            #expect(text("note", in: folder) == "new\n")
            // One process has got them all, the element's value first, and is started again with it when it has ended.
            try await eventually("the lines") { text("line", in: folder) == "old\none\n" }
            try await expectSuccess("set", target, "Line=two")
            _ = try await ElementalProcess.run("set", target, "Line=end")
            try await service.nextEvent("command") { event in
                let message: String = event["message"] ?? ""
                return event["command"] == "sink" && message.contains("status 4")
            }
            try await eventually("it runs again") { text("line", in: folder).hasPrefix("old\none\ntwo\nend\nend\n") }
        }
    }

    /// The package's example, with a program that takes the options of either version and holds the pin.
    @Test(.backstop, arguments: [("1.6.3", "--mode=signal gpiochip0"), ("2.2", "-c gpiochip0")])
    func theExampleHoldsAPinWithEitherVersionOfGpioset(version: String, options: String) async throws {
        try await withFolder { folder in
            let program = """
                #!/bin/sh
                [ "$1" = --version ] && { echo "gpioset (libgpiod) v\(version)"; exit; }
                echo "$* $$" >> "\(folder)/calls"; exec sleep 100000
                """
            try program.write(toFile: folder + "/gpioset", atomically: true, encoding: .utf8)
            #expect(chmod(folder + "/gpioset", 0o755) == 0)
            let path = "\(folder):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
            let file = Repository.path("Samples/Debian/lamp.elements")
            let arguments = ["publish", "lamp", "--from", file, "--unlisted", "--address", "127.0.0.1", "--json"]
            try await withCommand(arguments, environment: ["PATH": path]) { service in
                let target = "127.0.0.1:\(try await service.listeningPort())"
                func calls() -> [[String]] {
                    text("calls", in: URL(filePath: folder)).split(separator: "\n").map {
                        $0.split(separator: " ").map(String.init)
                    }
                }
                try await eventually("the pin is off") { calls().count == 1 }
                try await expectSuccess("set", target, "Light=on")
                try await eventually("the pin is on") { calls().count == 2 }
                #expect(calls().map { $0.dropLast().joined(separator: " ") } == ["\(options) 17=0", "\(options) 17=1"])
                let pids = calls().compactMap(\.last)
                try await eventually("one program holds it") { !isRunning(pids[0]) && isRunning(pids[1]) }
                try await service.expectExit(after: SIGTERM)
                try await eventually("nobody holds it") { !isRunning(pids[1]) }
            }
        }
    }

    @Test(.backstop)
    func aReadingThatFailsThreeTimesIsStale() async throws {
        let script = """
            1:Level:uint8:ro
                read 0.05: echo x >> {folder}/runs; cat {folder}/level
            """
        try await withService(script) { service, target, folder in
            try Data("7\n".utf8).write(to: folder.appending(path: "level"))
            try await eventually("it has a value") {
                try await ElementalProcess.run("get", target, "Level").output == ["Level=7"]
            }
            try FileManager.default.removeItem(at: folder.appending(path: "level"))
            try await service.nextEvent("command") { $0["state"] == "stale" && $0["element"] == "Level" }
            let runs = text("runs", in: folder).count
            try await eventually("it goes on") { text("runs", in: folder).count > runs + 20 }
            let missing = try await expectFailure("get", target, "Level", "--timeout", "1", status: 5)
            #expect(missing.output.isEmpty)
            let told = service.lines(of: .output).filter { $0.contains("\"stale\"") }
            #expect(told.count == 1)
            try Data("8\n".utf8).write(to: folder.appending(path: "level"))
            let output = try await expectSuccess("get", target, "Level")
            #expect(output == ["Level=8"])
        }
    }

    @Test("a service is not woken while its commands say nothing", .backstop)
    func silence() async throws {
        let script = """
            1:Now:bool:ro
                follow: echo on; exec sleep infinity
            2:Later:bool:ro
                follow: echo off; until [ -e {folder}/go ]; do sleep 0.02; done; sleep 3; echo on; exec sleep infinity
            """
        try await withService(script) { service, target, folder in
            let go = folder.appending(path: "go").path
            try await withCommand(["watch", target, "--json"]) { watch in
                for element in ["Now", "Later"] { try await watch.nextEvent("value") { $0["element"] == element } }
                let before = try ProcessFigures(of: service).waitCount
                try "".write(toFile: go, atomically: false, encoding: .utf8)
                try await watch.nextEvent("value") { $0["element"] == "Later" && $0["value"] == true }
                let count = try ProcessFigures(of: service).waitCount - before
                #expect(count < 40, "it was woken \(count) times within 3 seconds")
            }
        }
    }

    @Test
    func mistakesAreToldAtOnce() async throws {
        try Mistake.expect(in: ["publish", "pi", "--from", "x", "--element", "1:A:bool"])
        try Mistake.expect(in: ["publish", "pi"])
        let missing = try await expectFailure("publish", "pi", "--from", "/nowhere/elements", status: 3)
        #expect(missing.errors.contains { $0.contains("/nowhere/elements") })
    }
}
