import TestSupport

extension ElementalProcess {
    /// Runs a measurement to its end and returns its report, the event with the command's name.
    static func report(_ command: String, _ arguments: String...) async throws -> JSONLine {
        try await ChildProcess.with(path, ["bench", command] + arguments + ["--json"]) { child in
            child.closeInput()
            let status = try await child.waitForExit()
            let report = child.lines(of: .output).compactMap { JSONLine($0) }.first { $0.event == command }
            guard status == .exited(0), let report else {
                throw TestSupportError("no report: \(child.transcript)")
            }
            return report
        }
    }
}
