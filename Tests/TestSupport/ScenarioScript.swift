import Foundation
import Testing

/// A folder of scenarios in Python, `Tests/NAME/check.py`, with the Python that has the modules they need.
public struct ScenarioScript: Sendable {
    /// The dashboard's page in a real browser.
    public static let browser = ScenarioScript(name: "browser")
    /// The completion scripts in real shells.
    public static let completion = ScenarioScript(name: "completion", program: "bash")
    /// `elemental osc` with other implementations of OSC.
    public static let osc = ScenarioScript(name: "osc")
    /// Samples/Python, the wire's second implementation.
    public static let python = ScenarioScript(name: "python")
    /// `Samples/Wireshark/elemental.lua` in tshark.
    public static let wireshark = ScenarioScript(name: "wireshark", program: "tshark")

    /// How long a whole script may take: longer than each of its waits, so that the script says itself what is missing,
    /// and shorter than the backstop of the test.
    public static let backstop = Patience.wait * 9

    public let name: String
    public let python: String
    /// Whether what it needs is installed.
    public let isThere: Bool

    /// - Parameter program: what the scripts need besides the system's Python; without it, `Tests/NAME/install` puts Python's
    ///   modules into `.build/NAME`.
    private init(name: String, program: String? = nil) {
        self.name = name
        if let program {
            python = "python3"
            isThere = ProcessSpawn.isOnPath(program)
        } else {
            python = Repository.path(".build/\(name)/bin/python3")
            isThere = FileManager.default.fileExists(atPath: Repository.path(".build/\(name)/installed"))
        }
    }

    /// The arguments with which Python runs a script of the folder; nothing is written beside the scripts.
    public func arguments(_ script: String, _ arguments: [String] = []) -> [String] {
        ["-B", Repository.path("Tests/\(name)/\(script)")] + arguments
    }

    /// Runs scenarios, one after another. Prints what they leave out.
    public func check(_ scenarios: [String]) async throws {
        let arguments = arguments("check.py", ["--elemental", try BuiltProduct.path(of: "elemental")] + scenarios)
        // A sanitizer's share of the patience is not in the environment of this process.
        let patience = [Patience.variable: "\(Patience.factor)"]
        try await ChildProcess.with(python, arguments, environment: patience) { child in
            child.closeInput()
            let status = try await child.waitForExit(within: Self.backstop)
            let lines = child.lines(of: .output)
            for line in lines where line.hasPrefix("left out ") { print(line) }
            #expect(status == .exited(0), "\(child.transcript)")
            #expect(lines.filter { $0.hasPrefix("passed ") }.count == scenarios.count, "\(child.transcript)")
        }
    }
}
