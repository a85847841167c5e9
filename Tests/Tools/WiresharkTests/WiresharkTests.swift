import Foundation
import TestSupport
import Testing

/// `Samples/Wireshark/elemental.lua` in tshark: `Tests/wireshark/check.py`, which is driven from here.
@Suite(.enabled(if: Wireshark.isThere, "tshark is not installed"))
struct WiresharkTests {
    /// Captures that are written by the test: recorded frames of the older implementation, mistakes, attacks.
    @Test(.timeLimit(.minutes(10)), arguments: [["recorded", "mistakes", "middle", "pieces"], ["hostile"]])
    func writtenCapturesAreRead(_ scenarios: [String]) async throws {
        try await Wireshark.check(scenarios)
    }

    /// Captures of what real services and clients say to each other.
    @Test(
        .enabled(if: TestBed.isAvailable, "capturing needs root and network namespaces"), .timeLimit(.minutes(10)),
        arguments: ["values", "encrypted"])
    func whatServicesAndClientsSayIsRead(_ scenario: String) async throws {
        try await Wireshark.check([scenario])
    }
}

/// What drives tshark.
enum Wireshark {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardizedFileURL
    static let isThere = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/tshark") }

    static func check(_ scenarios: [String]) async throws {
        // Nothing is written beside the scripts.
        let arguments = [
            "-B", root.appending(path: "Tests/wireshark/check.py").path, "--elemental",
            try BuiltProduct.path(of: "elemental"),
        ]
        try await ChildProcess.with("python3", arguments + scenarios) { child in
            child.closeInput()
            let status = try await child.waitForExit(timeout: .seconds(500))
            let passed = child.lines(of: .output).filter { $0.hasPrefix("passed ") }
            #expect(status == .exited(0), "\(child.transcript)")
            #expect(passed.count == scenarios.count, "\(child.transcript)")
        }
    }
}
