import ElementalWire
import Foundation
import TestSupport
import Testing

/// `Samples/Wireshark/elemental.lua` in tshark: `Tests/wireshark/check.py`, which is driven from here.
struct WiresharkTests {
    /// The script has tables of its own, which grow with the wire's.
    @Test
    func theScriptKnowsAllTypesAndSystemElements() throws {
        let path = Wireshark.root.appending(path: "Samples/Wireshark/elemental.lua")
        let script = try String(contentsOf: path, encoding: .utf8)
        let named = script.matches(of: /{ name = "(\w+)",(?: size = (\d+),)? kind/).map {
            (String($0.1), $0.2.flatMap { Int($0) })
        }
        let types = ElementType.allCases.sorted { $0.rawValue < $1.rawValue }
        #expect(types.map { Int($0.rawValue) } == Array(1...types.count))
        #expect(named.map(\.0) == types.map(\.name))
        #expect(named.map(\.1) == types.map(\.fixedByteCount))
        for element in SystemElement.allCases {
            #expect(script.contains("[\(element.rawValue)] = \""), "the name of \(element)")
            #expect(script.contains("system[\(element.rawValue)] = function"), "what \(element) consists of")
        }
    }

    /// Captures that are written by the test: recorded frames of the older implementation, mistakes, attacks.
    @Test(
        .enabled(if: Wireshark.isThere, "tshark is not installed"), .backstop,
        arguments: [["recorded", "mistakes", "middle", "pieces"], ["hostile"]])
    func writtenCapturesAreRead(_ scenarios: [String]) async throws {
        try await Wireshark.check(scenarios)
    }

    /// Captures of what real services and clients say to each other.
    @Test(
        .enabled(if: Wireshark.isThere, "tshark is not installed"),
        .enabled(if: TestBed.isAvailable, "capturing needs root and network namespaces"), .backstop,
        arguments: ["values", "encrypted"])
    func whatServicesAndClientsSayIsRead(_ scenario: String) async throws {
        try await Wireshark.check([scenario])
    }
}

/// What drives tshark.
enum Wireshark {
    static let root = Repository.root
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
            let status = try await child.waitForExit()
            let passed = child.lines(of: .output).filter { $0.hasPrefix("passed ") }
            #expect(status == .exited(0), "\(child.transcript)")
            #expect(passed.count == scenarios.count, "\(child.transcript)")
        }
    }
}
