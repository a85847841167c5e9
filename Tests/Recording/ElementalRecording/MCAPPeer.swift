import Foundation
import TestSupport

/// PyPI's `mcap`, which `Tests/install mcap` installs.
enum MCAPPeer {
    private static let python = Repository.path(".build/mcap/bin/python3")
    static let isThere = FileManager.default.isExecutableFile(atPath: python)
    static let missing = "mcap is not there: run Tests/install mcap (it needs Python 3 and PyPI)"

    private static var script: String { Repository.path("Tests/Recording/ElementalRecording/peer.py") }

    /// What the peer finds in a file.
    struct Content: Decodable {
        struct Message: Decodable {
            let topic: String
            let time: UInt64
            let sequence: Int
            let schema: String
        }
        let library: String
        let channels: [String: [String: String]]?
        let count: Int?
        let chunks: Int?
        let indexed: Int
        let messages: [Message]
        let metadata: [String: [String: String]]
    }

    static func read(_ path: String) async throws -> Content {
        let text = try await ChildProcess.run(python, [script, "read", path])
        return try JSONDecoder().decode(Content.self, from: Data(text.utf8))
    }

    /// Writes a file of the peer's: `NONE`, `LZ4` or `ZSTD`.
    static func write(_ path: String, _ compression: String) async throws {
        try await ChildProcess.run(python, [script, "write", path, compression])
    }
}
