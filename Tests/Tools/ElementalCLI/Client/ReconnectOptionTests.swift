import Foundation
import TestSupport
import Testing

/// `--reconnect`: commands that survive their connection.
struct ReconnectOptionTests {
    private static func service(_ speed: String, port: Int = 0) -> [String] {
        [
            "publish", "robot", "--unlisted", "--address", "127.0.0.1", "--port", "\(port)", "--stay", "--json",
            "--element", "1:Speed:float=\(speed)", "--element", "2:Aim:uint32:latest",
        ]
    }

    @Test(.backstop)
    func watchContinuesWhenTheServiceReturns() async throws {
        try await withRunning { target in
            ["watch", target, "Speed", "--reconnect", "--count", "2", "--json"]
        } first: {
            try await $0.nextEvent("value") { $0.number("value") == 0.5 }
        } then: { watch, port in
            let loss = try await watch.nextEvent("willReconnect")
            #expect(loss.number("attempt") == 1)
            #expect(loss.number("delay") == 1)
            #expect(loss["message"] != String?.none)
            #expect(["closedByPeer", "networkError"].contains(loss["reason"] ?? ""))
            try await withCommand(Self.service("0.75", port: port)) { _ in
                // The second value ends the command; events and values are written by separate tasks.
                try await watch.expectExit()
                let lines = watch.lines(of: .output).compactMap { JSONLine($0) }
                #expect(lines.filter { $0.event == "value" }.map { $0.number("value") } == [0.5, 0.75])
            }
        }
    }

    @Test(.backstop)
    func aSessionKeepsLatestValuesAndReportsTheReconnection() async throws {
        try await withRunning { target in
            ["connect", target, "--reconnect"]
        } first: { session in
            try session.writeLine("watch Speed")
            try await session.nextLine { $0 == "Speed=0.5" }
        } then: { session, port in
            try await session.nextLine(of: .error) {
                $0.contains("is away") && $0.hasSuffix("attempt 1 in 1.0 seconds")
            }
            try session.writeLine("set Speed=1")
            try await session.nextLine(of: .error) { $0.contains("the device reconnects") }
            try session.writeLine("set Aim=7")
            try await session.nextLine(of: .error) { $0.contains("kept until") }
            try await withCommand(Self.service("0.25", port: port)) { service in
                try await session.nextLine(of: .error) { $0.hasSuffix(" again") || $0.contains(" again at ") }
                try await service.nextEvent("value") { $0["element"] == "Aim" && $0.number("value") == 7 }
                #expect(!service.lines(of: .output).contains { $0.contains("\"Speed\"") })
                try session.writeLine("quit")
                try await session.expectExit()
            }
        }
    }

    @Test(.backstop)
    func aSessionThatEndsBeforeTheReturnSaysWhatIsLost() async throws {
        try await withRunning { target in
            ["connect", target, "--reconnect"]
        } first: { session in
            try session.writeLine("watch Speed")
            try await session.nextLine { $0 == "Speed=0.5" }
        } then: { session, _ in
            try await session.nextLine(of: .error) { $0.contains("is away") }
            try session.writeLine("set Aim=7")
            try await session.nextLine(of: .error) { $0.contains("kept until") }
            session.closeInput()
            try await session.expectExit(1)
            try await session.nextLine(of: .error) { $0.contains("values that were kept for it are lost") }
        }
    }

    @Test(.backstop)
    func aCommandThatWaitsForTheReturnEndsOnSIGTERM() async throws {
        try await withRunning { target in
            ["watch", target, "--reconnect"]
        } first: {
            try await $0.nextLine { $0 == "Speed=0.5" }
        } then: { watch, _ in
            try await watch.nextLine(of: .error) { $0.contains("is away") }
            try await watch.expectExit(after: SIGTERM)
        }
    }

    /// Runs a command against a service, which is killed after `first`.
    private func withRunning(
        _ arguments: (_ target: String) -> [String], first: (ChildProcess) async throws -> Void,
        then: (_ command: ChildProcess, _ port: Int) async throws -> Void
    ) async throws {
        try await withCommand(Self.service("0.5", port: PortLease.port())) { service in
            let port = try await service.listeningPort()
            try await withCommand(arguments("127.0.0.1:\(port)")) { command in
                try await first(command)
                service.send(signal: SIGKILL)
                try await service.waitForExit()
                try await then(command, port)
            }
        }
    }
}
