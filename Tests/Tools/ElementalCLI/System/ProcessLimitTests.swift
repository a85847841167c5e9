import Foundation
import TestSupport
import Testing

/// The system leaves a command less than it needs.
struct ProcessLimitTests {
    private static let coreCount = ProcessInfo.processInfo.processorCount

    /// Runs a command below a limit of the shell's `ulimit`.
    private static func run(_ limit: String, _ arguments: [String]) async throws -> (status: Int32, text: String) {
        let script = "ulimit \(limit) && exec \"$@\""
        return try await ChildProcess.with("sh", ["-c", script, "sh", try ElementalProcess.path] + arguments) { child in
            let status = try await child.waitForExit()
            guard case .exited(let code) = status else {
                throw TestSupportError("\(limit): \(status) \(child.transcript)")
            }
            return (code, (child.lines(of: .output) + child.lines(of: .error)).joined(separator: "\n"))
        }
    }

    /// Nothing listens there, which a command that can begin says.
    private static func get() throws -> [String] {
        ["get", "127.0.0.1:\(try PortLease.port())", "X", "--timeout", "1"]
    }

    @Test(.backstop)
    func withAnyNumberOfDescriptorsACommandSaysWhatIsWrong() async throws {
        var reasons: Set<String> = []
        // With three the system cannot load the program.
        for count in stride(from: 4, through: 3 * Self.coreCount + 40, by: max(1, Self.coreCount / 2)) {
            let (status, text) = try await Self.run("-n \(count)", Self.get())
            let reason = ["files and sockets can be opened", "nothing listens there"].first(where: text.contains)
            #expect(status == 1 && reason != nil, "\(count): \(text)")
            reasons.insert(reason ?? text)
        }
        #expect(reasons.count == 2)
    }

    @Test(.backstop, .enabled(if: Sanitizer.current == nil, "sanitizers take terabytes of address space"))
    func withAnyAddressSpaceACommandSaysWhatIsWrong() async throws {
        let needed = 72 * (3 * Self.coreCount + 8)
        for mebibytes in [200, 400, 600, needed - 1, 2 * needed] {
            let (status, text) = try await Self.run("-v \(mebibytes << 10)", Self.get())
            let reason =
                mebibytes < needed ? "\(needed) MiB of address space are needed for threads" : "nothing listens there"
            #expect(status == 1 && text.contains(reason), "\(mebibytes) MiB: \(text)")
        }
        let (status, text) = try await Self.run("-v \(200 << 10)", ["doctor", "--json"])
        #expect(status == 1 && text.contains(#""code":"noAddressSpace""#), "\(text)")
    }

    /// The system does not limit root's threads.
    @Test(.backstop, .enabled(if: geteuid() == 0, "only root can become another user"))
    func withFewThreadsACommandSaysWhatIsWrong() async throws {
        try await withFolder { folder in
            let script = """
                chmod 755 "$1" && { ln "$2" "$1/elemental" || cp "$2" "$1/elemental"; } 2>/dev/null
                exec setpriv --reuid=65534 --clear-groups prlimit --nproc=3:3 "$1/elemental" doctor
                """
            try await ChildProcess.with("sh", ["-c", script, "sh", folder, try ElementalProcess.path]) { child in
                try await child.expectExit(1)
                #expect(
                    child.lines(of: .error).last?.contains("more threads can be started") == true, "\(child.transcript)"
                )
            }
        }
    }
}
