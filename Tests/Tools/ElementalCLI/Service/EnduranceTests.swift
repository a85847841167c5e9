import TestSupport
import Testing

/// Whether thousands of connections leak anything in a service's process.
struct EnduranceTests {
    @Test("three times 1,000 connections that vanish leak no descriptor and no memory")
    func connectAndVanish() async throws {
        try await Robot.with { service, target in
            let port = try #require(target.split(separator: ":").last.flatMap { Int($0) })
            let figures = ProcessFigures(of: service)
            func thousand() async throws {
                for index in 0..<1000 {
                    let socket = try RawSocket.connect(to: port)
                    if index.isMultiple(of: 2) { try socket.write([0xfe, 1, 0, 0, 0, 0x68]) }
                    if index.isMultiple(of: 3) { try? socket.write([1, 200, 0, 0]) }
                }
            }
            // The process may still be opening some of its own. A leak would show far more than these after 3,000 connections.
            let most = try figures.descriptors + 8
            try await thousand()
            try await eventually("\(most) descriptors") { try figures.descriptors <= most }
            let memory = try figures.residentMemory
            try await thousand()
            try await thousand()
            try await eventually("\(most) descriptors") { try figures.descriptors <= most }
            // A connection's state is some KiB: 2,000 leaked ones would be far more than this.
            expectMemory(try figures.residentMemory - memory, below: 2048, "for 2,000 connections")
            // The service may still have to accept hundreds of the connections, which nobody needs any more.
            try await expectSuccess("get", target, "Speed", "--timeout", Patience.seconds)
        }
    }

    @Test
    func tooFewDescriptorsAtTheStartAreAnErrorWithAdvice() async throws {
        let get = [try ElementalProcess.path, "get", "127.0.0.1:1", "Speed"]
        try await ChildProcess.with("sh", ["-c", "ulimit -n 8; exec \"$@\"", "sh"] + get) { child in
            try await child.expectExit(1)
            #expect(child.lines(of: .error).last?.contains("ulimit -n") == true, "\(child.transcript)")
        }
    }
}
