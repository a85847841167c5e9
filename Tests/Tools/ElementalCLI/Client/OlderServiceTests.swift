import TestSupport
import Testing
import WireVectors

/// The command line with a service that has no catalogue to send: the older ElementalController's recorded frames.
struct OlderServiceTests {
    private static let specs = [
        "--element", "9:Level:float", "--element", "11:Label:string", "--element", "20:Motion:double:udp",
    ]

    private func listen() throws -> (RawSocket, target: String) {
        let (listener, port) = try RawSocket.listen()
        return (listener, "127.0.0.1:\(port)")
    }

    private func greet(_ listener: RawSocket) async throws -> RawSocket {
        let server = try await listener.accept()
        try server.write(WireVectors.bytes(WireVectors.recorded.onAccept.serverSends))
        return server
    }

    @Test
    func setSendsTheRecordedFrame() async throws {
        let (listener, target) = try listen()
        let arguments = ["set", target, "Level=1.5", "--name", "fake client"] + Self.specs
        try await withCommand(arguments) { set in
            let server = try await greet(listener)
            let name = WireVectors.bytes(WireVectors.recorded.clientHello.clientSends)
            #expect(try await server.read(name.count) == name)
            #expect(try await server.readFrame().id == -4)
            #expect(try await server.read(9) == WireVectors.bytes("09040000000000c03f"))
            try await set.expectExit()
            _ = server
        }
    }

    @Test
    func getAndWatchPrintWhatItSends() async throws {
        let (listener, target) = try listen()
        for command in [["get", target, "Level"], ["watch", target, "Level", "--count", "1"]] {
            try await withCommand(command + Self.specs) { child in
                let server = try await greet(listener)
                _ = try await server.readFrame()
                try server.write(WireVectors.bytes("09040000000000c03f"))
                try await child.expectExit()
                #expect(child.lines(of: .output) == ["Level=1.5"])
            }
        }
    }

    @Test(
        "without elements the advice is one that the command can follow",
        arguments: [
            (["describe"], [], "take"), (["bench", "latency"], [], "bench serve"), (["get"], ["Level"], "--element"),
        ] as [([String], [String], String)])
    func adviceWithoutTheOption(_ command: [String], _ elements: [String], _ advice: String) async throws {
        let (listener, target) = try listen()
        let text = try await withGrowingTimeout { seconds in
            let arguments = command + [target] + elements + ["--timeout", seconds]
            return try await withCommand(arguments) { child in
                let server = try await greet(listener)
                let status = try await child.waitForExit()
                withExtendedLifetime(server) {}
                let text = child.lines(of: .error).joined(separator: " ")
                guard status == .exited(1), text.contains(advice) else { throw TestSupportError(child.transcript) }
                return text
            }
        }
        // Only a command that takes elements says how they are spelled.
        #expect(text.contains("ID:NAME") == (advice == "--element"))
    }

    @Test
    func anEmptyStringIsAClearError() async throws {
        let (listener, target) = try listen()
        try await withCommand(["set", target, "Label="] + Self.specs) { set in
            let server = try await greet(listener)
            try await set.expectExit(2)
            #expect(set.lines(of: .error).joined(separator: " ").contains("empty"), "\(set.transcript)")
            _ = server
        }
    }
}
