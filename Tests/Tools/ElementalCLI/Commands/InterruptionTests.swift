import Foundation
import TestSupport
import Testing

/// Ctrl-C and SIGTERM while a command waits for a peer that never answers.
struct InterruptionTests {
    /// Runs a command against a port that accepts and sends nothing, and signals it once it is connected.
    private func interrupt(
        _ signal: Int32, _ command: [String]
    ) async throws -> (status: ChildProcess.ExitStatus, errors: [String]) {
        let (listener, port) = try RawSocket.listen()
        let command = command.map { $0.replacing("TARGET", with: "127.0.0.1:\(port)") }
        return try await withCommand(command + ["--timeout", Patience.seconds]) { child in
            let peer = try await listener.accept()
            // Once it has sent something, it waits for an answer.
            _ = try await peer.readSome()
            child.send(signal: signal)
            let status = try await child.waitForExit()
            _ = try await peer.readToEnd()
            return (status, child.lines(of: .error))
        }
    }

    @Test(arguments: [
        ["get", "TARGET", "Speed", "--element", "1:Speed:float"], ["get", "TARGET", "Speed"], ["describe", "TARGET"],
        ["set", "TARGET", "Speed=1"], ["watch", "TARGET", "--count", "1", "--element", "1:Speed:float"],
        ["signalr", "call", "http://TARGET/hub", "Add", "1"], ["signalr", "send", "http://TARGET/hub", "Add", "1"],
        ["signalr", "stream", "http://TARGET/hub", "Items", "--count", "1"],
        ["signalr", "listen", "http://TARGET/hub", "Add", "--count", "1"],
        ["bench", "latency", "TARGET"], ["bench", "throughput", "TARGET"], ["bench", "fanout", "TARGET"],
    ])
    func aCommandWithSomethingToDoEndsWith130(_ command: [String]) async throws {
        let result = try await interrupt(SIGINT, command)
        #expect(result.status == .exited(130), "\(result.errors)")
        #expect(result.errors.last == "elemental: interrupted before it was done")
    }

    /// `elemental signalr send … && next` must not run `next`.
    @Test(arguments: [
        ["get", "TARGET", "Speed"], ["signalr", "send", "http://TARGET/hub", "Nothing"],
        ["signalr", "call", "http://TARGET/hub", "Nothing"],
    ])
    func sigtermIs143(_ command: [String]) async throws {
        let result = try await interrupt(SIGTERM, command)
        #expect(result.status == .exited(143), "\(result.errors)")
    }

    @Test(arguments: [
        ["watch", "TARGET", "--element", "1:Speed:float"], ["connect", "TARGET"],
        ["signalr", "listen", "http://TARGET/hub", "Add"], ["signalr", "stream", "http://TARGET/hub", "Items"],
    ])
    func aCommandThatRunsUntilToldEndsWith0(_ command: [String]) async throws {
        let result = try await interrupt(SIGINT, command)
        #expect(result.status == .exited(0), "\(result.errors)")
    }

    /// `timeout` sends its signal to the process and to its group, which is one request.
    @Test
    func twoSignalsAtOnceCountAsOne() async throws {
        let publish = ["publish", "robot", "--unlisted", "--stay", "--json", "--element", "1:Speed:float=0"]
        try await withCommand(publish) { service in
            _ = try await service.listeningPort()
            // It wakes up with both, however long this process takes to send them.
            service.send(signal: SIGSTOP)
            let figures = ProcessFigures(of: service)
            try await eventually("it is stopped") { try figures.isStopped }
            service.send(signal: SIGINT)
            service.send(signal: SIGTERM)
            service.send(signal: SIGCONT)
            try await service.expectExit()
            #expect(service.lines(of: .output).last?.contains("\"stopped\"") == true, "\(service.transcript)")
        }
    }

    @Test
    func aMeasurementEndsItsResponder() async throws {
        try await withCommand(["bench", "latency", "--count", "1000000000"]) { child in
            let figures = ProcessFigures(of: child)
            // A shell beside it would end it if this process were killed.
            func responder() throws -> Int32? {
                try figures.children.first { try ProcessFigures(ofProcess: $0).processorTime > 0.1 }
            }
            try await eventually("the responder measures") { try responder() != nil }
            let responder = try #require(try responder())
            try await child.expectExit(130, after: SIGINT)
            // One that was still starting ends by itself, since its standard input has ended.
            try await eventually("the responder is gone") { kill(responder, 0) != 0 }
        }
    }
}
