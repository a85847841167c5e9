import Foundation
import TestSupport

/// Runs the work of a test in a child process, so that a crash or a failed check fails that test alone and names its input.
///
/// The child is this program with the same test, which finds its work in ``work``.
enum OwnProcess {
    private static let variable = "ELEMENTAL_FUZZING_WORK"

    /// The work of this process; `nil` in the process that runs all tests.
    static let work = ProcessInfo.processInfo.environment[variable]

    /// Runs the work to its end. The child has to print the name of each input before it uses it: the last one is thrown.
    ///
    /// - Parameters:
    ///   - test: a pattern that only this test's name matches.
    ///   - preload: a library that is loaded before the C library.
    ///   - patience: how long it may take.
    ///   - isShown: whether all that it prints is printed.
    static func run(
        _ work: String, of test: String, preload: String? = nil, within patience: Duration = Patience.wait * 5,
        isShown: Bool = false
    ) async throws {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        var environment = [
            variable: work,
            // Dictionaries keep their order, so that a seed always makes the same network.
            "SWIFT_DETERMINISTIC_HASHING": "1",
            // The message is enough, and a backtrace of this large program takes long.
            "SWIFT_BACKTRACE": "enable=no",
        ]
        if let preload { environment["LD_PRELOAD"] = preload }
        try await ChildProcess.with(
            program, ["--testing-library", "swift-testing", "--filter", test], environment: environment
        ) { child in
            child.closeInput()
            var end = "did not end in time"
            if let status = try? await child.waitForExit(within: patience) {
                if isShown { print(child.lines(of: .output).joined(separator: "\n")) }
                guard status != .exited(0) else { return }
                end = "ended with \(status)"
            }
            let output = child.lines(of: .output).filter { !$0.contains("◇") }
            let errors = child.lines(of: .error)
            // A stack trace may follow the message.
            let message = errors.firstIndex { $0.contains("rror:") } ?? max(0, errors.count - 8)
            let lines = (output.suffix(8) + errors[message...].prefix(8)).joined(separator: "\n")
            throw TestSupportError("\(work): the process \(end)\n\(lines)")
        }
    }
}
