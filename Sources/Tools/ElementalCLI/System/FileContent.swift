import Support

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads and writes whole files.
enum FileContent {
    /// Reads a file, or a pipe such as `/dev/stdin`, on a thread of its own, which may block.
    ///
    /// - Parameter timeout: how long to wait for the next bytes of a pipe or device.
    static func read(_ path: String, atMost limit: Int, timeout: Duration) async throws -> Data {
        try await Blocking.run { try readBlocking(path, limit, timeout) }
    }

    /// The names in a folder; none if it cannot be listed. May block.
    static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    /// The text of a system file; `nil` if it cannot be read. May block.
    static func text(of path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Foundation is not used here: it reads only 4 KiB of files in /proc (Swift 6.3.1 on Linux), and nothing of a pipe.
    private static func readBlocking(_ path: String, _ limit: Int, _ timeout: Duration) throws -> Data {
        func failure(_ reason: String, code: String = "invalidFile") -> CommandFailure {
            CommandFailure(code, "file '\(path.excerpt)': \(reason)")
        }
        let descriptor = open(path)
        guard descriptor >= 0 else {
            let code = errno
            throw failure(reason(code), code: code == ENOENT ? "noSuchFile" : "invalidFile")
        }
        defer { Descriptor.close(descriptor) }
        var status = stat()
        var content = Data()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            guard status.st_size <= limit else { throw failure(tooLong(limit)) }
            content.reserveCapacity(Int(status.st_size))
        }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        let milliseconds = CInt(min((timeout / .milliseconds(1)).rounded(.up), 1_000_000_000))
        while true {
            // Also before the first read: a pipe that no process has opened for writing yet would be at its end at once.
            guard Poll.one(descriptor, for: POLLIN, timeout: milliseconds) != 0 else {
                throw failure("no data arrived within \(timeout); give a longer --timeout", code: "timedOut")
            }
            let length = buffer.withUnsafeMutableBytes { Descriptor.read(descriptor, $0) }
            if length == 0 { return content }
            if length > 0 {
                guard content.count + length <= limit else { throw failure(tooLong(limit)) }
                content.append(contentsOf: buffer[..<length])
            } else if errno != EINTR, errno != EAGAIN {
                throw failure(reason(errno))
            }
        }
    }

    private static func tooLong(_ limit: Int) -> String { "it is longer than the allowed \(limit) bytes" }

    /// - Returns: a descriptor to read from, or -1 with `errno`.
    private static func open(_ path: String) -> Int32 {
        // Standard input is duplicated: a socket cannot be opened a second time, and a pipe without a writer would wait for
        // another one.
        if path == "/dev/stdin" { return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) }
        // Without O_NONBLOCK, opening a pipe for reading waits until a process opens it for writing.
        return Descriptor.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    }

    private static func reason(_ code: CInt) -> String {
        switch code {
        case ENOENT: "there is no such file"
        case EACCES, EPERM: "reading it is not permitted"
        case EISDIR: "it is a folder"
        default: "it cannot be read: \(String(systemError: code))"
        }
    }

    /// Replaces a file atomically: readers see either the old content or the new, as a whole.
    static func replace(_ path: String, with bytes: some Sequence<UInt8>) throws {
        var status = stat()
        // A device or a pipe would be replaced too.
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure("invalidFile", "file '\(path.excerpt)' is not a regular file, so it is not replaced")
        }
        try write(bytes, to: path, .atomic)
    }

    /// Writes the bytes to the file and replaces its content.
    static func write(_ bytes: some Sequence<UInt8>, to path: String, _ options: Data.WritingOptions = []) throws {
        do {
            try Data(bytes).write(to: URL(filePath: path), options: options)
        } catch {
            throw CommandFailure("invalidFile", "file '\(path.excerpt)' cannot be written")
        }
    }
}
