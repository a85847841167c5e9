import Dispatch

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
    /// The bytes of the file, which may be a pipe, such as `/dev/stdin`, or an error that names it.
    ///
    /// It is read on a thread of its own, which may block.
    /// - Parameters:
    ///   - limit: the most bytes that it may have; of a longer one no more than these are read.
    ///   - timeout: how long nothing may come from a pipe or device.
    /// - Throws: ``CommandFailure``, also when the task is cancelled.
    static func read(_ path: String, atMost limit: Int, timeout: Duration) async throws -> Data {
        let wakeUp = try WakeUpPipe()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "elemental.file").async {
                    continuation.resume(with: Result { try readBlocking(path, limit, timeout, wakeUp) })
                }
            }
        } onCancel: {
            wakeUp.wake()
        }
    }

    /// A Commodore's program: two bytes for its address, and all of its memory at most.
    static func program(_ path: String, timeout: Duration) async throws -> Data {
        try await read(path, atMost: 2 + 65536, timeout: timeout)
    }

    /// What ``read(_:atMost:timeout:)`` returns or throws.
    static func result(of path: String, atMost limit: Int, timeout: Duration) async -> Result<Data, any Error> {
        do {
            return .success(try await read(path, atMost: limit, timeout: timeout))
        } catch {
            return .failure(error)
        }
    }

    /// Foundation's reading is not used: it takes 4 KiB of a file that the kernel makes up (Swift 6.3.1 on Linux), and none
    /// of a pipe.
    private static func readBlocking(
        _ path: String, _ limit: Int, _ timeout: Duration, _ wakeUp: WakeUpPipe
    ) throws -> Data {
        func failure(_ reason: String, code: String = "invalidFile") -> CommandFailure {
            CommandFailure(code, "file '\(path.excerpt)': \(reason)")
        }
        let descriptor = open(path)
        guard descriptor >= 0 else { throw failure(reason(errno)) }
        defer { Descriptor.close(descriptor) }
        var status = stat()
        var content = Data()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            guard status.st_size <= limit else { throw failure(tooLong(limit)) }
            content.reserveCapacity(Int(status.st_size))
        }
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            // Before each read, and before the first: reading a pipe that nobody has opened for writing yet would be its
            // end at once.
            switch wakeUp.wait(for: descriptor, timeout: timeout) {
            case .ready: break
            case .woken: throw CancellationError()
            case .timedOut: throw failure("nothing came from it within \(timeout)", code: "timedOut")
            }
            let count = buffer.withUnsafeMutableBytes { Descriptor.read(descriptor, $0) }
            if count == 0 { return content }
            if count > 0 {
                guard content.count + count <= limit else { throw failure(tooLong(limit)) }
                content.append(contentsOf: buffer[..<count])
            } else if errno != EINTR, errno != EAGAIN {
                throw failure(reason(errno))
            }
        }
    }

    private static func tooLong(_ limit: Int) -> String { "it is longer than the \(limit) bytes that are taken" }

    /// - Returns: a descriptor to read from, or -1 with `errno`.
    private static func open(_ path: String) -> Int32 {
        // Standard input is taken as it is: opened anew, a socket cannot be, and a pipe that has lost its writer waits for
        // another.
        if path == "/dev/stdin" { return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) }
        // Opening a pipe for reading would otherwise wait until somebody opens it for writing.
        return Descriptor.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
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
            throw CommandFailure("invalidFile", "file '\(path.excerpt)' cannot be written")
        }
    }
}
