import TestSupport
import Testing

/// Bounds and steps as text.
struct BoundTextTests {
    @Test
    func theyAreTheShortestOfTheirType() async throws {
        let elements = [
            "1:Level:uint8:0...1", "2:Speed:float:0.1...0.7:step 0.05", "3:Gain:double:0...0.1:step 0.05",
            "4:Big:uint64:0...9007199254740992", "5:Aim:float2:-0.1...1",
        ]
        try await Robot.with(elements) { _, target in
            let lines = try await expectSuccess("describe", target, "--json")
            for part in [
                #""range":[0,1],"step":null"#, #""range":[0.1,0.7],"step":0.05"#, #""range":[0,0.1],"step":0.05"#,
                #""range":[0,9007199254740992],"step":null"#, #""range":[-0.1,1],"step":null"#,
            ] {
                #expect(lines.contains { $0.contains(part) }, "\(part)")
            }
            let text = try await expectSuccess("describe", target).joined(separator: "\n")
            #expect(text.contains("0.1...0.7 step 0.05") && text.contains("0...1") && text.contains("-0.1...1"))
            for (assignment, part) in [
                ("Level=2", "takes 0 to 1, not 2"), ("Speed=0.9", "takes 0.1 to 0.7, not 0.9"),
                ("Aim=1,2", "takes -0.1 to 1 in each component, not 1.0,2.0"),
            ] {
                let refused = try await expectFailure("set", target, assignment, status: 2)
                #expect(refused.errors.joined().contains(part), "\(refused.errors)")
            }
        }
    }
}
