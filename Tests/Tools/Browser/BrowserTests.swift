import Foundation
import TestSupport
import Testing

/// The dashboard's page in a real browser, on phone and desktop: `Tests/browser/check.py`, which is driven from here.
@Suite(.enabled(if: BrowserScripts.areThere, "Tests/browser/install has not installed a browser"))
struct BrowserTests {
    /// Scenarios that follow one another; the groups run beside each other, and take about as long.
    @Test(
        .backstop,
        arguments: [
            ["controls", "readonly", "commodore"], ["restart", "together", "pairing"],
            ["asleep", "attacks", "keychanged", "accessibility"],
        ])
    func thePageInABrowser(_ scenarios: [String]) async throws {
        let script = BrowserScripts.root.appending(path: "Tests/browser/check.py").path
        // Nothing is written beside the scripts.
        let arguments = ["-B", script, "--elemental", try BuiltProduct.path(of: "elemental")] + scenarios
        try await ChildProcess.with(BrowserScripts.environment + "/bin/python3", arguments) { child in
            child.closeInput()
            let status = try await child.waitForExit()
            let passed = child.lines(of: .output).filter { $0.hasPrefix("passed ") }
            #expect(status == .exited(0), "\(child.transcript)")
            #expect(passed.count == scenarios.count, "\(child.transcript)")
        }
    }
}

/// What drives the browser.
enum BrowserScripts {
    static let root = Repository.root
    /// Where `Tests/browser/install` puts Python's modules.
    static let environment = root.appending(path: ".build/browser").path
    static let areThere = FileManager.default.fileExists(atPath: environment + "/installed")
}
