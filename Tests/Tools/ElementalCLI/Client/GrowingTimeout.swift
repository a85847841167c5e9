import TestSupport

/// Runs a scenario in which a command has to end by its `--timeout` or `--for`.
///
/// That time includes the start of the process and connecting. As long as it is too short for them, the scenario throws and
/// runs again with more time; what it throws with the last one is thrown.
func withGrowingTimeout<Result>(
    isolation: isolated (any Actor)? = #isolation, _ scenario: (_ seconds: String) async throws -> Result
) async throws -> Result {
    for seconds in ["1", "4", "16"] {
        if let result = try? await scenario(seconds) { return result }
    }
    return try await scenario(Patience.seconds)
}
