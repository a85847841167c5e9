import Foundation

/// Peers of encrypted connections in Python, and what attacks them: `Tests/security-peers`.
public enum SecurityPeers {
    private static let environment = Repository.path(".build/security-peers")
    private static let python = environment + "/bin/python3"

    /// Whether what they need is installed. `Tests/run` installs it, or says why it cannot.
    public static let areThere = FileManager.default.fileExists(atPath: environment + "/installed")

    private static func command(_ script: String, _ arguments: [String]) -> [String] {
        // Nothing is written beside the scripts.
        ["-B", Repository.path("Tests/security-peers/\(script)")] + arguments
    }

    /// Runs a script to its end, and returns its output.
    @discardableResult
    public static func run(
        _ script: String, _ arguments: [String] = [], namespace: String? = nil
    ) async throws -> String {
        try await ChildProcess.run(python, command(script, arguments), namespace: namespace)
    }

    @discardableResult
    public static func with<Result>(
        _ script: String, _ arguments: [String] = [], namespace: String? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        try await ChildProcess.with(python, command(script, arguments), namespace: namespace, body)
    }
}
