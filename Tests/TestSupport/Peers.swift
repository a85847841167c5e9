import Foundation

/// Third-party implementations of SignalR, set up by `Tests/install signalr`.
public enum Peers {
    public static let folder = Repository.path(".build/signalr-peers")

    /// Whether they are installed. `Tests/run` installs them, or says why it cannot.
    public static let areThere = ["server", "signalrcore", "pysignalr"].allSatisfy {
        FileManager.default.fileExists(atPath: "\(folder)/\($0)/installed")
    }

    private static func script(_ name: String) -> String { Repository.path("Tests/signalr-peers/\(name)") }

    public static func with<Result>(
        _ peer: String, _ name: String, _ arguments: [String] = [], _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        try await ChildProcess.with("\(folder)/\(peer)/bin/python", [script(name)] + arguments, body)
    }

    /// The hub's program on aiosignalr, which says at which port it is listening.
    public static func hub(isSecure: Bool = false, address: String = "127.0.0.1") -> (path: String, arguments: [String])
    {
        let tls = isSecure ? ["--certificate", "\(folder)/certificate.pem", "--key", "\(folder)/key.pem"] : []
        return ("\(folder)/server/bin/python", [script("hub.py")] + tls + ["--address", address])
    }

    /// Runs the hub on aiosignalr, with TLS or without, during the body, which gets its port.
    public static func withHub(
        isSecure: Bool = false, address: String = "127.0.0.1", _ body: (ChildProcess, Int) async throws -> Void
    ) async throws {
        let hub = hub(isSecure: isSecure, address: address)
        try await ChildProcess.with(hub.path, hub.arguments) { hub in
            let line = try await hub.nextLine(beginningWith: "listening ")
            guard let port = line.text.split(separator: " ").last.flatMap({ Int($0) }) else {
                throw TestSupportError("no port in '\(line)'")
            }
            try await body(hub, port)
        }
    }

}
