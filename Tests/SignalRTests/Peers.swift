import Foundation
import SignalR
import TestSupport
import Testing

/// Implementations of SignalR that nobody of this project wrote, set up by `Tests/signalr-peers/install`.
enum Peers {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let folder = root.appending(path: ".build/signalr-peers").path

    /// Whether they are there. `Tests/run` sets them up, or says why it cannot.
    static let areThere = ["server", "signalrcore", "pysignalr"].allSatisfy {
        FileManager.default.fileExists(atPath: "\(folder)/\($0)/installed")
    }

    private static func script(_ name: String) -> String { root.appending(path: "Tests/signalr-peers/\(name)").path }

    /// Runs a script of a peer while the body runs.
    static func with<Result>(
        _ peer: String, _ name: String, _ arguments: [String] = [], _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        try await ChildProcess.with("\(folder)/\(peer)/bin/python", [script(name)] + arguments, body)
    }

    /// Runs the hub on aiosignalr, with TLS or without, and gives its port.
    static func withHub(
        isSecure: Bool = false, _ body: (ChildProcess, Int) async throws -> Void
    ) async throws {
        let tls = isSecure ? ["--certificate", "\(folder)/certificate.pem", "--key", "\(folder)/key.pem"] : []
        try await with("server", "hub.py", tls) { hub in
            let line = try await hub.nextLine(beginningWith: "listening ")
            try await body(hub, try #require(Int(line.split(separator: " ")[1])))
        }
    }

    /// A started connection, which is stopped after the body.
    static func withConnection(
        _ builder: HubConnectionBuilder, prepare: (HubConnection) -> Void = { _ in },
        _ body: (HubConnection) async throws -> Void
    ) async throws {
        let connection = builder.build()
        prepare(connection)
        try await connection.start()
        do {
            try await body(connection)
        } catch {
            await connection.stop()
            throw error
        }
        await connection.stop()
    }
}
