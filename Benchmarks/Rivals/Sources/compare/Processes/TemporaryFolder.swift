import Foundation

/// The folder of everything that is written beside the results; it goes with this process.
enum TemporaryFolder {
    private static let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("elemental-rivals-\(getpid())")

    /// A new folder in it.
    static func make() throws -> URL {
        let url = folder.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    static func remove() { try? FileManager.default.removeItem(at: folder) }
}
