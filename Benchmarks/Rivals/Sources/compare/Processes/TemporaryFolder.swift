import Foundation

/// The folder for temporary files, which is removed with this process.
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
