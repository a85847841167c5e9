import Foundation
import TestSupport
import Testing

/// `elemental osc` with python-osc, python-oscquery and liblo: `Tests/osc/check.py`, which is driven from here.
@Suite(.enabled(if: OSCScripts.areThere, "Tests/osc/install has not installed what these need"))
struct OtherImplementationTests {
    /// Scenarios that follow one another; the groups run beside each other.
    @Test(
        .backstop,
        arguments: [["types", "observe"], ["surfaces", "query"], ["found"], ["liblo", "hostile"], ["motion"]])
    func otherImplementations(_ scenarios: [String]) async throws {
        let script = OSCScripts.root.appending(path: "Tests/osc/check.py").path
        let arguments = ["-B", script, "--elemental", try BuiltProduct.path(of: "elemental")] + scenarios
        try await ChildProcess.with(OSCScripts.environment + "/bin/python3", arguments) { child in
            child.closeInput()
            let status = try await child.waitForExit()
            let lines = child.lines(of: .output)
            for line in lines where line.hasPrefix("left out ") || line.hasPrefix("figures ") { print(line) }
            #expect(status == .exited(0), "\(child.transcript)")
            #expect(lines.filter { $0.hasPrefix("passed ") }.count == scenarios.count, "\(child.transcript)")
        }
    }
}

/// What runs the scenarios.
enum OSCScripts {
    static let root = Repository.root
    /// Where `Tests/osc/install` puts Python's modules.
    static let environment = root.appending(path: ".build/osc").path
    static let areThere = FileManager.default.fileExists(atPath: environment + "/installed")
}
