#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A small file beside an identity, which nobody else may read.
package struct StateFile: Sendable {
    /// The directory's path.
    package let directory: String
    package let name: String

    package init(directory: String, name: String) {
        self.directory = directory
        self.name = name
    }

    /// The file's content; `nil` if it is not there.
    ///
    /// - Parameter limit: the most bytes that it may have.
    /// - Throws: ``SecurityError`` if it is longer, cannot be read, or if others have access to it.
    package func read(limit: Int) throws(SecurityError) -> [UInt8]? {
        guard let opened = try ProtectedDirectory.open(directory) else { return nil }
        return try opened.read(name, limit: limit)
    }

    /// Replaces the content with what `change` makes of it: whenever that is interrupted, the file has the old or the new
    /// one. Other processes that do so wait. Nothing is written if `change` returns the same bytes, or `nil`.
    ///
    /// - Parameters:
    ///   - limit: the most bytes that the file may have.
    ///   - lockTimeout: how long to wait for other processes.
    ///   - createsDirectory: whether to create the directory where there is none.
    /// - Throws: ``SecurityError`` as ``read(limit:)`` does, and if it cannot be written.
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
