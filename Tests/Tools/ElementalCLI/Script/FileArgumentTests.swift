import Foundation
import TestSupport
import Testing

/// Files on the command line: endless ones, pipes without a writer, files that are too long.
struct FileArgumentTests {
    private func withService(_ body: (_ target: String) async throws -> Void) async throws {
        try await Robot.with(["1:Raw:data", "2:Text:string:udp"]) { _, target in try await body(target) }
    }

    private func withPipe(_ body: (_ target: String, _ pipe: String) async throws -> Void) async throws {
        try await withFolder { folder in
            #expect(mkfifo(folder + "/pipe", 0o600) == 0)
            try await withService { try await body($0, folder + "/pipe") }
        }
    }

    /// Runs a command with at most 1.5 GB of address space.
    private func runWithLittleMemory(_ arguments: [String]) async throws -> (ChildProcess.ExitStatus, String) {
        // Sanitizers need terabytes of address space.
        let limit = Sanitizer.current == nil ? "ulimit -v 1500000; " : ""
        let shell = ["-c", limit + "exec \"$@\"", "bash", try ElementalProcess.path] + arguments
        return try await ChildProcess.with("bash", shell) { child in
            child.closeInput()
            let status = try await child.waitForExit()
            return (status, child.lines(of: .error).joined(separator: "\n"))
        }
    }

    @Test("an endless file is refused as soon as it is too long, with little memory")
    func endless() async throws {
        try await withService { target in
            for name in ["Raw", "Text"] {
                let (status, errors) = try await runWithLittleMemory(["set", target, "\(name)=@/dev/zero"])
                #expect(status == .exited(1) && errors.contains("longer than"), "\(errors)")
            }
        }
    }

    @Test(
        "a program, a certificate, a token and an initial value without an end are refused",
        arguments: [
            ["c64", "run", "/dev/zero", "--frames", "1"],
            ["c64", "cpu-test", "/dev/zero", "--load", "0", "--start", "0", "--success", "1"],
            ["c64", "gateway", "--virtual", "/dev/zero", "--unlisted", "--address", "127.0.0.1"],
            ["signalr", "call", "https://127.0.0.1:1/", "Add", "--trust", "/dev/zero"],
            ["signalr", "call", "http://127.0.0.1:1/", "Add", "--token", "@/dev/zero"],
            ["publish", "robot", "--unlisted", "--address", "127.0.0.1", "--element", "1:a:data=@/dev/zero"],
        ])
    func endlessFiles(_ arguments: [String]) async throws {
        let (status, errors) = try await runWithLittleMemory(arguments)
        #expect(status == .exited(1) && errors.contains("longer than"), "\(errors)")
    }

    @Test("a pipe without a writer ends with --timeout")
    func nobodyWrites() async throws {
        try await withPipe { target, pipe in
            let commands = [
                ["set", target, "Raw=@\(pipe)"], ["c64", "run", pipe, "--frames", "1"],
                ["signalr", "call", "https://127.0.0.1:1/", "Add", "--trust", pipe],
                ["publish", "robot", "--unlisted", "--address", "127.0.0.1", "--element", "1:a:data=@\(pipe)"],
            ]
            for arguments in commands {
                try await withGrowingTimeout { seconds in
                    let result = try await ElementalProcess.run(arguments + ["--timeout", seconds])
                    guard result.status == .exited(5),
                        result.errors.joined().contains("no data arrived within \(seconds).0 seconds")
                    else { throw TestSupportError("\(result)") }
                }
            }
        }
    }

    @Test("a session that reads a pipe without a writer ends on a signal")
    func interruption() async throws {
        try await withPipe { target, pipe in
            try await withCommand(["connect", target, "--json", "--timeout", "3600"]) { session in
                try session.writeLine("ping")
                try await session.nextEvent("ping")
                try session.writeLine("set Raw=@\(pipe)")
                let figures = ProcessFigures(of: session)
                try await eventually("the pipe is opened") { try figures.hasOpen(pipe) }
                try await session.expectExit(after: SIGINT)
            }
        }
    }

    @Test("a slowly written pipe is read to its end, however long that takes")
    func slowWriter() async throws {
        try await withPipe { target, pipe in
            try await withGrowingTimeout { seconds in
                // Open for reading as well, which needs no reader.
                let file = open(pipe, O_RDWR | O_CLOEXEC)
                let writer = FileHandle(fileDescriptor: file, closeOnDealloc: true)
                try await withCommand(["set", target, "Raw=@\(pipe)", "--timeout", seconds]) { child in
                    let figures = ProcessFigures(of: child)
                    try await eventually("the pipe is opened") { try figures.hasOpen(pipe) }
                    // Longer in total than --timeout.
                    var count = 0
                    try await eventually("all parts", every: Duration.seconds(try #require(Double(seconds))) / 5) {
                        try writer.write(contentsOf: Data("0123456789".utf8))
                        count += 1
                        return count == 7
                    }
                    try writer.close()
                    let status = try await child.waitForExit()
                    guard status == .exited(0) else { throw TestSupportError(child.transcript) }
                }
            }
            let get = try await ElementalProcess.run("get", target, "Raw", "--raw")
            #expect(get.output == [String(repeating: "0123456789", count: 7)], "\(get)")
        }
    }

    @Test("an empty pipe and an empty file are empty values")
    func emptiness() async throws {
        try await withService { target in
            let elemental = try ElementalProcess.path
            for script in ["true | \"$0\" set \"$1\" Raw=@/dev/stdin", "\"$0\" set \"$1\" Raw=@/dev/null"] {
                let output = try await ChildProcess.run("bash", ["-c", script, elemental, target])
                #expect(output == "Raw=")
            }
        }
    }
}
