#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file of a ``ProtectedDirectory`` to which bytes are appended. Its calls block.
package struct AppendedFile: ~Copyable {
    private let path: String
    private let file: FileDescriptor
    /// The size of the file in bytes.
    package private(set) var byteCount: Int
    /// Whether the file ends with a part of the bytes of a failed append.
    package private(set) var isDamaged = false

    init(_ path: String, _ file: consuming FileDescriptor, byteCount: Int) {
        self.path = path
        self.file = file
        self.byteCount = byteCount
    }

    /// Appends all bytes, or none.
    package mutating func append(_ bytes: [UInt8]) throws(SecurityError) {
        guard file.append(bytes) else {
            let error = SecurityError.file(path, cannot: "write", errno)
            // Removes the bytes that were written.
            isDamaged = (try? shorten(to: byteCount)) == nil
            throw error
        }
        byteCount += bytes.count
    }

    package mutating func shorten(to end: Int) throws(SecurityError) {
        guard ftruncate(file.number, off_t(end)) == 0 else { throw .file(path, cannot: "shorten", errno) }
        byteCount = end
    }

    /// Waits until the appended bytes are on the disk.
    package func synchronise() throws(SecurityError) {
        guard file.synchronise() else { throw .file(path, cannot: "write", errno) }
    }
}
