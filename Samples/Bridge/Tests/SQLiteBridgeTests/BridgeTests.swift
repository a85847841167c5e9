import Elemental
import ElementalFollowing
import Foundation
import SQLiteBridge
import Testing

/// Readings go into the file and wishes out of it, with a real service.
@Suite(.timeLimit(.minutes(2)))
struct BridgeTests {
    static let level = Element<Float>(1, "Level", range: 0...1)
    static let name = Element<String>(2, "Name")

    @Test func readingsAreKeptAndWishesHaveAnOutcome() async throws {
        var configuration = ServiceConfiguration()
        (configuration.address, configuration.isPublished) = ("127.0.0.1", false)
        let service = ElementalService(
            "lamp", displayName: "Desk lamp", elements: [Self.level, Self.name], configuration: configuration)
        try await service.start()
        let port = try #require(service.port)
        let path = FileManager.default.temporaryDirectory.path + "/bridge-\(UUID().uuidString).db"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let bridging = Task {
            try await bridge([.address(host: "127.0.0.1", port: port)], to: path, every: .zero)
        }
        let database = try Database(path: path)
        // A name may be anything.
        let text = "'); DROP TABLE readings; --"
        try service.send(0.25, to: Self.level)
        try service.send(text, to: Self.name)
        while try (try? database.run("SELECT 1 FROM readings WHERE value = ?", text))?.isEmpty ?? true {
            try await Task.sleep(for: .milliseconds(20))
        }
        let levels = try database.run("SELECT value, time > 1e9 FROM readings WHERE element = 'Level'")
        #expect(levels == [["0.25", "1"]])
        for value in ["0.5", "7", "much"] {
            try database.run(
                "INSERT INTO wishes VALUES (NULL, ?, 'Level', ?, NULL)", "127.0.0.1:\(port)", value)
        }
        while try !database.run("SELECT 1 FROM wishes WHERE outcome IS NULL").isEmpty {
            try await Task.sleep(for: .milliseconds(20))
        }
        let outcomes = try database.run("SELECT outcome FROM wishes ORDER BY rowid").map { $0[0] ?? "" }
        #expect(outcomes[0] == "taken" && outcomes[1].hasPrefix("outOfRange") && outcomes[2] == "invalidValue")
        bridging.cancel()
        _ = try? await bridging.value
        await service.stop()
    }
}
