import Foundation
import Support

/// Makes a folder that only this user may read, for the duration of the body, which gets its path.
public func withFolder<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "elemental-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// A folder for what all tests of this process share, which is removed when the process exits.
public enum ProcessFolder {
    /// The folder's path. Only this user may read it.
    public static var path: String { get throws { try folder.get() } }

    private static let folder = Result {
        let path = FileManager.default.temporaryDirectory.appending(path: "elemental-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        pathToRemove.withLock { $0 = path }
        atexit {
            if let path = pathToRemove.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
        }
        return path
    }

    private static let pathToRemove = Locked<String?>(nil)
}
