import Foundation

/// The command line as the tests run it: a process of the built `elemental`.
public enum ElementalProcess {
    public static var path: String { get throws { try BuiltProduct.path(of: "elemental") } }

    /// Runs a command to its end.
    public static func run(
        _ arguments: String..., input: [String]? = nil, within timeout: Duration = Patience.wait
    ) async throws -> (status: ChildProcess.ExitStatus, output: [String], errors: [String]) {
        try await run(arguments, input: input, within: timeout)
    }

    /// Runs a command to its end.
    public static func run(
        _ arguments: [String], input: [String]? = nil, within timeout: Duration = Patience.wait
    ) async throws -> (status: ChildProcess.ExitStatus, output: [String], errors: [String]) {
        try await ChildProcess.with(path, arguments) { child in
            child.endInput(with: input ?? [])
            let status = try await child.waitForExit(within: timeout)
            return (status, child.lines(of: .output), child.lines(of: .error))
        }
    }
}

extension ChildProcess {
    /// The port of the event `listening`.
    public func listeningPort() async throws -> Int {
        let event = try await nextEvent("listening")
        guard let port = event.number("port") else { throw TestSupportError("no port in the event") }
        return Int(port)
    }
}
