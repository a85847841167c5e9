import TestSupport

/// Runs openssl, and returns its output.
@discardableResult
func openssl(_ arguments: [String]) async throws -> String { try await ChildProcess.run("openssl", arguments) }
