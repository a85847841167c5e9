#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A virtual file of the kernel, as in `/proc` and `/sys`.
public enum SmallFile {
    /// The file's text.
    ///
    /// - Throws: ``ReadingError`` with the system's reason, or if the file is longer than a megabyte.
    public static func text(_ path: String) throws(ReadingError) -> String {
        // A pipe that nobody writes into does not hold up the reader.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ReadingError(errnoOf: path) }
        defer { _ = close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw ReadingError(errnoOf: path)
            }
            bytes += buffer[..<count]
            guard bytes.count <= 1 << 20 else { throw ReadingError(path, "longer than a megabyte") }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A failed reading.
public struct ReadingError: Error, CustomStringConvertible {
    public let path: String
    public let reason: String

    public init(_ path: String, _ reason: String) {
        self.path = path
        self.reason = reason
    }

    /// The reason is the system's, of the call that has just failed.
    public init(errnoOf path: String) { self.init(path, String(cString: strerror(errno))) }

    public var description: String { "cannot read \(path): \(reason)" }
}
