import TestSupport
import Testing

/// `elemental osc` with python-osc, python-oscquery and liblo: `Tests/osc/check.py`.
@Suite(.enabled(if: ScenarioScript.osc.isThere, "Tests/install osc has not installed what these need"))
struct OtherImplementationTests {
    /// Scenarios that follow one another; the groups run beside each other.
    @Test(
        .backstop,
        arguments: [["types", "observe"], ["surfaces", "query"], ["found"], ["liblo", "hostile"], ["motion"]])
    func otherImplementations(_ scenarios: [String]) async throws {
        try await ScenarioScript.osc.check(scenarios)
    }
}
