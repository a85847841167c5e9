import TestSupport
import Testing

/// What a command that has ended leaves.
typealias CommandResult = (status: ChildProcess.ExitStatus, output: [String], errors: [String])

/// Expects that a command has succeeded, and returns what it printed.
@discardableResult
func expectSuccess(_ result: CommandResult, sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
    #expect(result.status == .exited(0), "\(result)", sourceLocation: sourceLocation)
    return result.output
}

/// Expects that a command has failed with that status.
@discardableResult
func expectFailure(
    _ result: CommandResult, status: Int32 = 1, sourceLocation: SourceLocation = #_sourceLocation
) -> CommandResult {
    #expect(result.status == .exited(status), "\(result)", sourceLocation: sourceLocation)
    return result
}

/// Runs a command that has to succeed, and returns what it prints.
@discardableResult
func expectSuccess(
    _ arguments: String..., input: [String]? = nil, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> [String] {
    expectSuccess(try await ElementalProcess.run(arguments, input: input), sourceLocation: sourceLocation)
}

/// Runs a command that has to fail with that status.
@discardableResult
func expectFailure(
    _ arguments: String..., status: Int32 = 1, input: [String]? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> CommandResult {
    expectFailure(
        try await ElementalProcess.run(arguments, input: input), status: status, sourceLocation: sourceLocation)
}

/// Runs `elemental` with these arguments during the body, and ends it in every case.
func withCommand<Result>(
    _ arguments: [String], environment: [String: String] = [:], isolation: isolated (any Actor)? = #isolation,
    _ body: (ChildProcess) async throws -> Result
) async throws -> Result {
    try await ChildProcess.with(ElementalProcess.path, arguments, environment: environment, body)
}

/// The port of HOST:PORT.
func port(of target: String) throws -> Int { try #require(target.split(separator: ":").last.flatMap { Int($0) }) }

extension ChildProcess {
    /// Waits for the end, which a signal may have to bring about, and expects this status.
    func expectExit(
        _ status: Int32 = 0, after signal: Int32? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        if let signal { send(signal: signal) }
        let ended = try await waitForExit(fileID: sourceLocation.fileID, line: sourceLocation.line)
        #expect(ended == .exited(status), "\(transcript)", sourceLocation: sourceLocation)
    }

    /// What it has printed of an event so far.
    func events(_ event: String) -> [JSONLine] {
        lines(of: .output).compactMap { JSONLine($0) }.filter { $0.event == event }
    }
}

extension TestBed.Host {
    /// Runs `elemental` on this host during the body, and ends it in every case.
    func withCommand<Result>(
        _ arguments: [String], isolation: isolated (any Actor)? = #isolation,
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        try await withChild(ElementalProcess.path, arguments, body)
    }

    /// Runs a command on this host that has to succeed, and returns what it prints.
    @discardableResult
    func expectSuccess(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String] {
        try await withCommand(arguments) { command in
            try await command.expectExit(sourceLocation: sourceLocation)
            return command.lines(of: .output)
        }
    }
}
