import Foundation
import TestSupport

/// The command line as the tests run it: a process of the built `elemental`.
enum ElementalProcess {
    static var path: String {
        get throws { try BuiltProduct.path(of: "elemental") }
    }

    /// Runs a command to its end.
    ///
    /// - Returns: status, standard output and standard error.
    static func run(
        _ arguments: String..., input: [String]? = nil, timeout: Duration = .seconds(30)
    ) async throws -> (status: ChildProcess.ExitStatus, output: [String], errors: [String]) {
        try await run(arguments, input: input, timeout: timeout)
    }

    static func run(
        _ arguments: [String], input: [String]? = nil, timeout: Duration = .seconds(30)
    ) async throws -> (status: ChildProcess.ExitStatus, output: [String], errors: [String]) {
        try await ChildProcess.with(path, arguments) { child in
            for line in input ?? [] { try child.writeLine(line) }
            child.closeInput()
            let status = try await child.waitForExit(timeout: timeout)
            return (status, child.lines(of: .output), child.lines(of: .error))
        }
    }
}

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

extension ChildProcess {
    /// The port of the event `listening`.
    func listeningPort() async throws -> Int {
        let event = try await nextEvent("listening")
        guard let port = event.number("port") else { throw TestSupportError("no port in the event") }
        return Int(port)
    }
}
