import Foundation
import TestSupport
import Testing

/// Values on the command line are taken exactly or refused.
struct TypedValueTests {
    private static let elements =
        ChoiceCommandTests.elements + ["4:v:float2=5,6", "5:f:float=7", "6:n:int8=8", "7:d:data=0900"]

    @Test(
        "a value that is not what its text says, or no choice, is refused, and changes nothing",
        arguments: [
            ("v=1 2,3", "2 numbers"), ("f=1e39", "3.4028235e+38"), ("n=0x-5", "127"), ("d=0 1", "hexadecimal"),
            ("Mode=2", "'off' (0), 'heat' (1), 'cool down' (7), not 2"),
            ("Mode=hot", "'hot' is not one of its choices"),
            ("Fan=medium", "'slow', 'fast'"), ("Power=0.2", "0.1"),
        ])
    func refused(_ assignment: String, _ expectation: String) async throws {
        try await Robot.with(Self.elements) { service, target in
            let set = try await expectFailure("set", target, assignment, status: 2)
            #expect(set.errors.joined().contains(expectation), "\(set)")
            #expect(set.output.isEmpty)
            try service.writeLine(assignment)
            try await service.nextLine(of: .error) { $0.contains("ignored") && $0.contains(expectation) }
            let get = try await ElementalProcess.run("get", target, "v", "f", "n", "d", "Mode", "Fan", "Power")
            #expect(
                get.output == ["v=5.0,6.0", "f=7.0", "n=8", "d=0900", "Mode=off", "Fan=slow", "Power=0.1 kW"], "\(get)")
        }
    }

    @Test("an initial value is parsed as strictly", arguments: ["1:v:float2=1 2,3", "1:f:float=1e39", "1:n:int8=0x-5"])
    func initialValues(_ element: String) throws {
        try Mistake.expect(in: ["publish", "robot", "--unlisted", "--element", element], "give")
    }

    @Test("bytes that are typed at a Commodore's line are those that are sent")
    func terminalBytes() async throws {
        let lines = ["raw $0 1 2 3", "raw $\u{FF10}\u{FF11}", "raw $012", "value 5 $1 0", "raw $0g"]
        let terminal = try await ElementalProcess.run("c64", "terminal", "--pty", "--json", input: lines)
        #expect(terminal.errors.count { $0.contains("ignored") } == lines.count, "\(terminal)")
        #expect(!terminal.output.contains { $0.contains("\"record\"") }, "\(terminal)")
    }
}
