import Foundation
import TestSupport
import Testing

struct ExitStatusTests {
    @Test(arguments: [["--version"], ["help"], ["help", "publish"], ["get", "--help"], ["bench"], ["signalr"]])
    func anOutputThatCannotBeWrittenIsAFailure(_ arguments: [String]) async throws {
        let command = ["-c", "exec \"$@\" > /dev/full", "sh", try ElementalProcess.path] + arguments
        try await ChildProcess.with("sh", command) { child in
            try await child.expectExit(1)
            #expect(child.lines(of: .error).last?.contains("No space left on device") == true, "\(child.transcript)")
        }
        let result = try await ElementalProcess.run("--version")
        #expect(result.status == .exited(0) && result.output == ["1.0.0"])
    }

    @Test
    func resultsThatAClosedOutputLosesAreAFailure() async throws {
        try await Robot.with(["1:Speed:float=0.5"]) { _, target in
            for command in [["get", target, "Speed"], ["set", target, "Speed=1"], ["help"]] {
                let shell = ["-c", "exec \"$@\" >&-", "sh", try ElementalProcess.path] + command
                try await ChildProcess.with("sh", shell) { child in
                    try await child.expectExit(1)
                    let last = child.lines(of: .error).last
                    #expect(last?.contains("standard output is closed") == true, "\(child.transcript)")
                }
            }
        }
        // A daemon that says nothing to anybody goes on.
        let daemon = "exec \"$@\" --unlisted --address 127.0.0.1 --element 1:A:uint8=0 --stay < /dev/null >&-"
        let port = "\(try PortLease.port())"
        let shell = ["-c", daemon, "sh", try ElementalProcess.path, "publish", "pi", "--port", port]
        try await ChildProcess.with("sh", shell) { _ in
            try await eventually("it takes a value") {
                try await ElementalProcess.run("set", "127.0.0.1:\(port)", "A=1").status == .exited(0)
            }
            let output = try await expectSuccess("get", "127.0.0.1:\(port)", "A")
            #expect(output == ["A=1"])
        }
    }

    @Test
    func anArgumentThatIsNoTextIsAMistake() async throws {
        try await Robot.with(["1:Note:string=old"]) { _, target in
            let script = "exec \"$0\" set \"$1\" \"$(printf 'Note=a\\377b')\""
            try await ChildProcess.with("bash", ["-c", script, try ElementalProcess.path, target]) { child in
                try await child.expectExit(64)
                #expect(child.lines(of: .error).joined().contains("argument 3 is not UTF-8"), "\(child.transcript)")
            }
            let output = try await expectSuccess("get", target, "Note")
            #expect(output == ["Note=old"])
        }
    }

    /// The work is done whether or not anyone reads the output.
    @Test
    func aClosedReaderIsNoFailure() async throws {
        let script = """
            pipe=$(mktemp -u) && mkfifo "$pipe" || exit 2
            exec 3<>"$pipe" 4>"$pipe" 3<&-
            rm "$pipe"
            exec "$@" >&4 4>&-
            """
        try await Robot.with { service, target in
            for command in [
                ["set", target, "Speed=1", "--json"], ["get", target, "Speed"], ["describe", target],
                ["watch", target],
                ["watch", target, "--count", "2"], ["--version"], ["help"],
            ] {
                let arguments = ["-c", script, "sh", try ElementalProcess.path] + command
                try await ChildProcess.with("sh", arguments) { child in
                    try await child.expectExit()
                }
            }
            try await service.nextEvent("value") { $0.number("value") == 1 }
        }
    }

    @Test
    func aSearchThatAlwaysFailedIsAFailure() async throws {
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"]
        try await withGrowingTimeout { seconds in
            try await withCommand(["browse", "--for", seconds], environment: environment) { browse in
                let status = try await browse.waitForExit()
                guard status == .exited(1), browse.lines(of: .error).last?.hasPrefix("elemental: ") == true else {
                    throw TestSupportError(browse.transcript)
                }
            }
        }
    }

    @Test(.needsAvahi)
    func aSearchThatFindsNothingIsASuccess() async throws {
        try await PrivateAvahi.with(hostName: "nothing") { avahi in
            try await withCommand(["browse", "nothing", "--for", "0.5"], environment: avahi.environment) { browse in
                try await browse.expectExit()
            }
        }
    }

    @Test
    func aModemThatIsNeverThereIsAFailure() async throws {
        // A port on which nothing listens.
        let port = try PortLease.port()
        let output = try await withFolder { folder in
            let program = folder + "/loop.prg"
            try Data(Den.loop).write(to: URL(filePath: program))
            return try await withGrowingTimeout { seconds in
                let result = try await ElementalProcess.run(
                    "c64", "run", program, "--modem", "127.0.0.1:\(port)", "--seconds", seconds)
                guard result.status == .exited(1), let last = result.errors.last, last.contains("127.0.0.1:\(port)"),
                    last.contains("Connection refused")
                else { throw TestSupportError("\(result)") }
                return result.output
            }
        }
        // Its screen is printed all the same.
        #expect(output.count == 25)
    }
}
