import Foundation
import TestSupport
import Testing

/// What tests that write to a process rely on.
struct ChildProcessTests {
    @Test
    func toWriteToAProcessThatHasEndedIsAnErrorAndNoMore() async throws {
        try await ChildProcess.with("true") { child in
            try await child.expectExit()
            #expect(throws: TestSupportError.self) { try child.writeLine("too late") }
            child.endInput(with: ["not wanted"])
        }
    }

    /// The process waits until the pipe to it is full, and then writes more than a pipe holds.
    @Test
    func aWriteThatWaitsKeepsNobodyFromReading() async throws {
        let script = """
            import array, fcntl, signal, sys, termios
            waiting = array.array("i", [0])
            while waiting[0] < 65536: fcntl.ioctl(0, termios.FIONREAD, waiting)
            for number in range(20000): print("line", number, "." * 50)
            print("end", flush=True)
            signal.pause()
            """
        try await ChildProcess.with("python3", ["-c", script]) { child in
            let ends = Transcript<String>()
            Thread.detachNewThread {
                do {
                    try child.writeLine(String(repeating: "x", count: 1_000_000))
                    ends.add("written")
                } catch {
                    ends.add("refused")
                }
            }
            try await child.nextLine { $0 == "end" }
            #expect(child.lines(of: .output).count == 20_001)
            #expect(child.isRunning && ends.count == 0)
            await child.end()
            #expect(try await ends.next() == "refused")
        }
    }

    @Test
    func theLinesBeforeAMatchAreLeft() async throws {
        try await ChildProcess.with("sh", ["-c", "echo a; echo b; echo c >&2; read line; echo a; exit 3"]) { child in
            let b = try await child.nextLine { $0 == "b" }
            let first = try await child.nextLine { $0 == "a" }
            #expect(first.place < b.place)
            try await child.nextLine(of: .error) { $0 == "c" }
            try child.writeLine("go on")
            try await child.nextLine(after: b.place) { $0 == "a" }
            #expect(try await child.waitForExit() == .exited(3))
            let error = await #expect(throws: TestSupportError.self) {
                try await child.nextLine(within: .zero, "another a") { $0 == "a" }
            }
            let text = error?.description ?? ""
            for part in ["another a did not come before the end", "out| b", "err| c", "exited(3)"] {
                #expect(text.contains(part), "\(text)")
            }
        }
    }
}
