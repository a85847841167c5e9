import ElementalWire
import Foundation
import TestSupport
import Testing

/// `Samples/Wireshark/elemental.lua` in tshark: `Tests/wireshark/check.py`.
struct WiresharkTests {
    /// The script has tables of its own, which grow with the wire's.
    @Test
    func theScriptKnowsAllTypesAndSystemElements() throws {
        let path = Repository.path("Samples/Wireshark/elemental.lua")
        let script = try String(contentsOfFile: path, encoding: .utf8)
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
        .enabled(if: ScenarioScript.wireshark.isThere, "tshark is not installed"), .backstop,
        arguments: [["recorded", "mistakes", "middle", "pieces"], ["hostile"]])
    func writtenCapturesAreRead(_ scenarios: [String]) async throws {
        try await ScenarioScript.wireshark.check(scenarios)
    }

    /// Captures of what real services and clients say to each other.
    @Test(
        .enabled(if: ScenarioScript.wireshark.isThere, "tshark is not installed"),
        .enabled(if: TestBed.isAvailable, "capturing needs root and network namespaces"), .backstop,
        arguments: ["values", "encrypted"])
    func whatServicesAndClientsSayIsRead(_ scenario: String) async throws {
        try await ScenarioScript.wireshark.check([scenario])
    }
}
