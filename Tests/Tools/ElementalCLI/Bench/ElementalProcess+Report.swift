import TestSupport

extension ElementalProcess {
    /// Runs a measurement to its end and returns its report, the event with the command's name.
    static func report(
        _ command: String, _ arguments: String..., options: [String] = []
    ) async throws -> JSONLine {
        // Messages that are lost are waited for.
        let timeout = ["--timeout", "\(10 * Patience.factor)"]
        let result = try await run(["bench", command] + arguments + options + timeout + ["--json"])
        let report = result.output.compactMap { JSONLine($0) }.first { $0.event == command }
        guard result.status == .exited(0), let report else { throw TestSupportError("no report: \(result)") }
        return report
    }
}
