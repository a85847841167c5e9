import TestSupport
import Testing

/// The dashboard's page in a real browser, on phone and desktop: `Tests/browser/check.py`.
@Suite(.enabled(if: ScenarioScript.browser.isThere, "Tests/install browser has not installed a browser"))
struct BrowserTests {
    /// Scenarios that follow one another; the groups run beside each other, and take about as long.
    @Test(
        .backstop,
        arguments: [
            ["controls", "readonly", "commodore", "kinds"],
            ["restart", "together", "pairing", "services", "nothing", "hand"],
            ["asleep", "past", "attacks", "keychanged", "accessibility"],
        ])
    func thePageInABrowser(_ scenarios: [String]) async throws {
        try await ScenarioScript.browser.check(scenarios)
    }
}
