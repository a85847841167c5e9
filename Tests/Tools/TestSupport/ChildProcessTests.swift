import TestSupport
import Testing

/// What tests that write to a process rely on.
struct ChildProcessTests {
    @Test
    func toWriteToAProcessThatHasEndedIsAnErrorAndNoMore() async throws {
        try await ChildProcess.with("true") { child in
            let status = try await child.waitForExit()
            #expect(status == .exited(0))
            #expect(throws: TestSupportError.self) { try child.writeLine("too late") }
            child.endInput(with: ["not wanted"])
        }
    }
}
