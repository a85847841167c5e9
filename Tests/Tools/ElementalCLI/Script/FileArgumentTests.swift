import Foundation
import TestSupport
import Testing

/// Files on the command line: endless ones, pipes without a writer, files that are too long.
struct FileArgumentTests {
    private func withService(_ body: (_ target: String) async throws -> Void) async throws {
        let arguments = [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--json", "--element", "1:Raw:data",
            "--element",
            "2:Text:string:udp",
        ]
        try await ChildProcess.with(ElementalProcess.path, arguments) { service in
            try await body("127.0.0.1:\(try await service.listeningPort())")
        }
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("elemental-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
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
        try await withFolder { folder in
            let pipe = folder.appendingPathComponent("pipe").path
            #expect(mkfifo(pipe, 0o600) == 0)
            try await withService { target in
                let commands = [
                    ["set", target, "Raw=@\(pipe)"], ["c64", "run", pipe, "--frames", "1"],
                    ["signalr", "call", "https://127.0.0.1:1/", "Add", "--trust", pipe],
                    ["publish", "robot", "--unlisted", "--address", "127.0.0.1", "--element", "1:a:data=@\(pipe)"],
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for arguments in commands { group.addTask { try await expectTimeout(arguments) } }
                    try await group.waitForAll()
                }
            }
        }
    }

    private func expectTimeout(_ arguments: [String]) async throws {
        try await ChildProcess.with(ElementalProcess.path, arguments + ["--timeout", "3"]) { child in
            child.closeInput()
            let status = try await child.waitForExit()
            #expect(status == .exited(1), "\(child.transcript)")
            let errors = child.lines(of: .error).joined()
            #expect(errors.contains("nothing came from it within 3.0 seconds"), "\(child.transcript)")
        }
    }

    @Test("a session that reads a pipe without a writer ends on a signal")
    func interruption() async throws {
        try await withFolder { folder in
            let pipe = folder.appendingPathComponent("pipe").path
            #expect(mkfifo(pipe, 0o600) == 0)
            try await withService { target in
                let arguments = ["connect", target, "--json", "--timeout", "3600"]
                try await ChildProcess.with(ElementalProcess.path, arguments) { session in
                    try session.writeLine("ping")
                    try await session.nextEvent("ping")
                    try session.writeLine("set Raw=@\(pipe)")
                    try await eventually("the pipe is opened") {
                        let descriptors = try FileManager.default.contentsOfDirectory(
                            atPath: "/proc/\(session.processID)/fd")
                        return descriptors.contains { number in
                            let link = "/proc/\(session.processID)/fd/\(number)"
                            return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == pipe
                        }
                    }
                    session.send(signal: SIGINT)
                    let status = try await session.waitForExit()
                    #expect(status == .exited(0), "\(session.transcript)")
                }
            }
        }
    }

    @Test("a slowly written pipe is read to its end, however long that takes")
    func slowWriter() async throws {
        try await withFolder { folder in
            let pipe = folder.appendingPathComponent("pipe").path
            #expect(mkfifo(pipe, 0o600) == 0)
            try await withService { target in
                // Longer in total than --timeout.
                let script = """
                    { for i in 1 2 3 4 5 6 7; do printf 0123456789; sleep 0.6; done; } >"$2" &
                    "$0" set "$1" Raw=@"$2" --timeout 3 >/dev/null && exec "$0" get "$1" Raw --raw
                    """
                let output = try await ChildProcess.run("bash", ["-c", script, ElementalProcess.path, target, pipe])
                #expect(output == String(repeating: "0123456789", count: 7))
            }
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
