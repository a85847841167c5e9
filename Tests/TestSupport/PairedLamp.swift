import Foundation

/// A process that is a lamp for paired clients, with a level of 0 to 1 that is 0.5, and a state directory for a bridge.
public struct PairedLamp: Sendable {
    public let process: ChildProcess
    public let target: String
    /// The bridge's state directory, which does not exist at first.
    public let bridgeState: String
    private let code: String

    public static func with<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (PairedLamp) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "paired-\(UUID().uuidString)").path
        defer { for state in ["", "-service"] { try? FileManager.default.removeItem(atPath: folder + state) } }
        let lamp = [
            "publish", "lamp", "--unlisted", "--address", "127.0.0.1", "--security", "paired", "--state",
            "\(folder)-service", "--element", "1:Level:float:0...1=0.5", "--json",
        ]
        return try await ChildProcess.with(ElementalProcess.path, lamp) { process in
            let port = try await process.listeningPort()
            guard let code: String = try await process.nextEvent("pairing")["code"] else {
                throw TestSupportError("the lamp shows no code: \(process.transcript)")
            }
            return try await body(
                PairedLamp(process: process, target: "127.0.0.1:\(port)", bridgeState: folder, code: code))
        }
    }

    /// Waits until a bridge was turned away, runs the command that it names, whose words it returns, and waits until the
    /// bridge is connected.
    public func pair(
        _ bridge: ChildProcess, isolation: isolated (any Actor)? = #isolation
    ) async throws -> [String] {
        let refusal = try await bridge.nextEvent("serviceState") {
            $0["state"] == "away" && $0["reason"] == "unauthenticated"
        }
        let message: String = refusal["message"] ?? ""
        guard let advice = message.firstRange(of: "type: elemental ") else {
            throw TestSupportError("the bridge names no command: \(message)")
        }
        let command = message[advice.upperBound...].split(separator: " ").map(String.init)
        let paired = try await ElementalProcess.run(command, input: [code])
        guard paired.status == .exited(0) else { throw TestSupportError("not paired: \(paired.errors)") }
        try await bridge.nextEvent("serviceState") { $0["state"] == "connected" }
        return command
    }
}
