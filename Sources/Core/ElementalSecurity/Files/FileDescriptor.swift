#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open file or directory, closed with this value.
struct FileDescriptor: ~Copyable {
    let number: CInt

    init(_ number: CInt) { self.number = number }

    deinit { close(number) }

    /// The contents of a file that is not a secret, or `nil` if it cannot be read.
    static func contents(of path: String, limit: Int) -> [UInt8]? {
        let number = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { return nil }
        let file = FileDescriptor(number)
        return file.read(limit: limit)
    }

    /// The owner, mode and size of the open file.
    func status() -> stat? {
        var status = stat()
        return fstat(number, &status) == 0 ? status : nil
    }

    /// Reads to the end of the file, but at most `limit` + 1 bytes.
    ///
    /// - Returns: `nil` if the system reported an error, which is in `errno`.
    func read(limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            // Most of these files are short, whatever the limit.
            let next = min(max(4096, bytes.count), limit + 1 - bytes.count)
            var (result, failure) = (0, errno)
            bytes += [UInt8](unsafeUninitializedCapacity: next) { buffer, count in
                result = readOnce(UnsafeMutableRawBufferPointer(buffer))
                failure = errno
                count = max(result, 0)
            }
            if result == 0 { break }
            if result < 0, failure != EINTR {
                errno = failure
                return nil
            }
        }
        return bytes
    }

    /// Writes all bytes, and waits until they are on the disk.
    ///
    /// - Returns: `false` if the system reported an error, which is in `errno`.
    func write(_ bytes: [UInt8]) -> Bool { append(bytes) && synchronise() }

    /// Writes all bytes without waiting for the disk.
    func append(_ bytes: [UInt8]) -> Bool { Self.writeAll(bytes) { writeOnce($0) } }

    /// Writes all bytes with calls that may each write fewer than they are given.
    ///
    /// - Parameter once: returns the number of bytes that it wrote, or -1 with the error in `errno`.
    /// - Returns: `false` if a call wrote nothing.
    static func writeAll(_ bytes: [UInt8], _ once: (UnsafeRawBufferPointer) -> Int) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let result = rest.withUnsafeBytes { once($0) }
            if result > 0 {
                rest = rest.dropFirst(result)
            } else if result == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits until the written bytes, or a directory's entries, are on the disk.
    func synchronise() -> Bool {
        while fsync(number) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }

    private func readOnce(_ target: UnsafeMutableRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.read(number, target.baseAddress, target.count)
        #elseif canImport(Musl)
        Musl.read(number, target.baseAddress, target.count)
        #else
        Darwin.read(number, target.baseAddress, target.count)
        #endif
    }

    private func writeOnce(_ source: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(number, source.baseAddress, source.count)
        #elseif canImport(Musl)
        Musl.write(number, source.baseAddress, source.count)
        #else
        Darwin.write(number, source.baseAddress, source.count)
        #endif
    }
}
