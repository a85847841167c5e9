import TestSupport
import Testing

/// What the compiler says about a mistake that many make.
struct CompilerMessageTests {
    @Test(
        .backstop,
        arguments: [
            (#"let count = Element<Int>(1, "Count", range: 0...9)"#, "Int has no fixed size"),
            (#"let mode = Element<UInt8>(1, "Mode", choices: ["off", "heat"])"#, #"choices: [0: "off", 1: "heat"]"#),
        ])
    func aMistakeIsExplained(_ line: String, _ explanation: String) async throws {
        let complaint = try await SwiftCompiler().compile("import Elemental\n" + line)
        #expect(complaint.contains(explanation), "\(complaint)")
    }
}
