import Foundation
import TestSupport
import Testing

/// Spellings of earlier versions are taken, and the new ones are named.
struct OldSpellingTests {
    @Test(
        .backstop,
        arguments: [
            (["metrics", "--once", "--timeout", "0.1", "--name", "me"], "--as"),
            (["metrics", "--port", "0", "--address", "127.0.0.1"], "--listen"),
            (["mqtt", "--broker", "mqtt://127.0.0.1:1", "--as", "Brightness=light"], "--map"),
            (["signalr", "call", "http://127.0.0.1:1/", "Add", "--token", "abc"], "--token @FILE"),
            (["record", "127.0.0.1:1", "--for", "0.01", "--to", "FOLDER/old.mcap", "Speed"], "--only NAME"),
        ])
    func anOldSpellingIsTaken(_ arguments: [String], _ new: String) async throws {
        try await withFolder { folder in
            let arguments = arguments.map { $0.replacing("FOLDER", with: "\(folder)") }
            try await withCommand(arguments, environment: ["ELEMENTAL_STATE": "\(folder)"]) { command in
                _ = try await command.nextLine(of: .error) { $0.contains("old spelling") && $0.contains(new) }
                command.send(signal: SIGTERM)
                _ = try await command.waitForExit()
            }
        }
    }

    @Test(.backstop)
    func onlyTheNamedElementsAreFollowed() async throws {
        try await Robot.with(["1:Speed:float=0.5", "2:Camera:bool=on"]) { _, target in
            let metrics = try await ElementalProcess.run("metrics", target, "--once", "--only", "Speed")
            #expect(metrics.output.contains { $0.contains("element=\"Speed\"") })
            #expect(!metrics.output.contains { $0.contains("element=\"Camera\"") })
        }
    }
}
