#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A small file beside an identity. Other users may not read it.
package struct StateFile: Sendable {
    /// The directory's path.
    package let directory: String
    package let name: String

    package init(directory: String, name: String) {
        self.directory = directory
        self.name = name
    }

    /// The file's content; `nil` if the file does not exist.
    ///
    /// - Parameter limit: the maximum size in bytes.
    /// - Throws: ``SecurityError`` if the file is larger, cannot be read, or others have access to it.
    package func read(limit: Int) throws(SecurityError) -> [UInt8]? {
        guard let opened = try ProtectedDirectory.open(directory) else { return nil }
        return try opened.read(name, limit: limit)
    }

    /// Replaces the content with the result of `change`. After an interruption the file has the old content or the new
    /// one. Other processes that update the file wait. Nothing is written if `change` returns the same bytes, or `nil`.
    ///
    /// - Parameters:
    ///   - limit: the maximum size of the file in bytes.
    ///   - lockTimeout: how long to wait for other processes.
    ///   - createsDirectory: whether to create a missing directory.
    ///   - change: receives the content; `nil` if the file does not exist or ``read(limit:)`` would throw.
    /// - Throws: ``SecurityError`` if the directory or the lock cannot be used, or the file cannot be written.
    package func update(
        limit: Int, lockTimeout: Duration = FileTrustStore.defaultLockTimeout, createsDirectory: Bool = false,
        _ change: ([UInt8]?) -> [UInt8]?
    ) throws(SecurityError) {
        guard let opened = try createsDirectory ? .create(directory) : ProtectedDirectory.open(directory) else {
            throw SecurityError.file(directory, cannot: "open", ENOENT)
        }
        let lock = try opened.lock(name + ".lock", timeout: lockTimeout)
        defer { lock.release() }
        let before = try? opened.read(name, limit: limit)
        if let after = change(before), after != before { try opened.replace(name, with: after) }
    }
}
