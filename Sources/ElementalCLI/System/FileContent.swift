#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reading and writing whole files.
enum FileContent {
    /// The most that a value can have.
    private static let maximumByteCount = Int(UInt32.max)

    /// The bytes of the file, which may be a pipe, such as `/dev/stdin`, or an error that names it.
    ///
    /// Foundation's reading is not used: it takes 4 KiB of a file that the kernel makes up (Swift 6.3.1 on Linux), and none
    /// of a pipe.
    static func read(_ path: String) throws -> Data {
        func failure(_ reason: String) -> CommandFailure {
            CommandFailure("invalidFile", "file '\(path)': \(reason)")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(reason(errno)) }
        defer { Descriptor.close(descriptor) }
        var status = stat()
        var content = Data()
        if fstat(descriptor, &status) == 0, (0...maximumByteCount).contains(Int(status.st_size)) {
            content.reserveCapacity(Int(status.st_size))
        }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = buffer.withUnsafeMutableBytes { Descriptor.read(descriptor, $0) }
            if count == 0 { return content }
            if count > 0 {
                content.append(contentsOf: buffer[..<count])
            } else if errno != EINTR {
                throw failure(reason(errno))
            }
            guard content.count <= maximumByteCount else { throw failure("it is longer than a value can be, 4 GiB") }
        }
    }

    private static func reason(_ code: CInt) -> String {
        switch code {
        case ENOENT: "there is no such file"
        case EACCES, EPERM: "reading it is not permitted"
        case EISDIR: "it is a folder"
        default: "it cannot be read: \(String(cString: strerror(code)))"
        }
    }

    /// Writes the bytes into the file, in place of what is there, or throws an error that names it.
    static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            throw CommandFailure("invalidFile", "file '\(path)' cannot be written")
        }
    }
}
