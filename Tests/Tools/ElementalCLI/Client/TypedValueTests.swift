import Foundation
import TestSupport
import Testing

/// Values on the command line are taken exactly or refused.
struct TypedValueTests {
    private static let service = [
        "publish", "robot", "--name", "Rover", "--unlisted", "--address", "127.0.0.1", "--json", "--element",
        "1:v:float2=5,6", "--element", "2:f:float=7", "--element", "3:n:int8=8", "--element", "4:d:data=0900",
    ]

    @Test(
        "a value that is not what its text says is refused, and changes nothing",
        arguments: [("v=1 2,3", "2 numbers"), ("f=1e39", "3.4028235e+38"), ("n=0x-5", "127"), ("d=0 1", "hexadecimal")])
    func refused(_ assignment: String, _ expectation: String) async throws {
        try await ChildProcess.with(ElementalProcess.path, Self.service) { service in
            let target = "127.0.0.1:\(try await service.listeningPort())"
            let set = try await ElementalProcess.run("set", target, assignment)
            #expect(set.status == .exited(1), "\(set)")
            #expect(set.errors.joined().contains(expectation), "\(set)")
            #expect(set.output.isEmpty)
            try service.writeLine(assignment)
            try await service.nextLine(of: .error) { $0.contains("ignored") && $0.contains(expectation) }
            let get = try await ElementalProcess.run("get", target, "v", "f", "n", "d")
            #expect(get.output == ["v=5.0,6.0", "f=7.0", "n=8", "d=0900"], "\(get)")
        }
    }

    @Test("an initial value is parsed as strictly")
    func initialValues() async throws {
        for spec in ["1:v:float2=1 2,3", "1:f:float=1e39", "1:n:int8=0x-5"] {
            let publish = try await ElementalProcess.run("publish", "robot", "--unlisted", "--element", spec)
            #expect(publish.status == .exited(64), "\(publish)")
            #expect(publish.errors.joined().contains("give"), "\(publish)")
        }
    }

    @Test(
        "bytes that are typed at a Commodore's line are those that are sent",
        arguments: ["raw $0 1 2 3", "raw $\u{FF10}\u{FF11}", "raw $012", "value 5 $1 0", "raw $0g"])
    func terminalBytes(_ line: String) async throws {
        let terminal = try await ElementalProcess.run("c64", "terminal", "--pty", "--json", input: [line])
        #expect(terminal.errors.joined().contains("ignored"), "\(terminal)")
        #expect(!terminal.output.contains { $0.contains("\"record\"") }, "\(terminal)")
    }
}
