import TestSupport
import Testing

/// Samples/Python, the wire's second implementation, with the command line's services and clients: `Tests/python/check.py`.
@Suite(.enabled(if: ScenarioScript.python.isThere, "Tests/install python has not installed what these need"))
struct PythonTests {
    /// Scenarios that follow one another; the groups run beside each other, and take about as long.
    @Test(
        .backstop,
        arguments: [
            ["units", "types", "large", "catalogue", "refusals", "older", "clients", "services", "datagrams"],
            ["times", "clocks", "histories"],
            ["package", "reconnection", "heartbeat", "slow", "crowd"],
            ["pairing", "impostors"],
            ["found"],
        ])
    func thePackageAndTheCommandLine(_ scenarios: [String]) async throws {
        try await ScenarioScript.python.check(scenarios)
    }
}
