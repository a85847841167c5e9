import Foundation
import TestSupport
import Testing

/// Samples/Python, the wire's second implementation, with the command line's services and clients:
/// `Tests/python/check.py`, which is driven from here.
@Suite(.enabled(if: PythonScripts.areThere, "Tests/python/install has not installed what these need"))
struct PythonTests {
    /// Scenarios that follow one another; the groups run beside each other, and take about as long.
    @Test(
        .backstop,
        arguments: [
            ["units", "types", "large", "catalogue", "refusals", "older", "clients", "services", "datagrams"],
            ["package", "reconnection", "heartbeat", "slow", "crowd"],
            ["pairing", "impostors"],
            ["found"],
        ])
    func thePackageAndTheCommandLine(_ scenarios: [String]) async throws {
        let script = PythonScripts.root.appending(path: "Tests/python/check.py").path
        // Nothing is written beside the scripts.
        let arguments = ["-B", script, "--elemental", try BuiltProduct.path(of: "elemental")] + scenarios
        try await ChildProcess.with(PythonScripts.environment + "/bin/python3", arguments) { child in
            child.closeInput()
            let status = try await child.waitForExit()
            let lines = child.lines(of: .output)
            for line in lines where line.hasPrefix("left out ") { print(line) }
            #expect(status == .exited(0), "\(child.transcript)")
            #expect(lines.filter { $0.hasPrefix("passed ") }.count == scenarios.count, "\(child.transcript)")
        }
    }
}

/// What runs the scenarios.
enum PythonScripts {
    static let root = Repository.root
    /// Where `Tests/python/install` puts Python's modules.
    static let environment = root.appending(path: ".build/python").path
    static let areThere = FileManager.default.fileExists(atPath: environment + "/installed")
}
