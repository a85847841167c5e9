import Foundation
import TestSupport

/// A pipe to which a process writes and that nobody reads until the test does.
final class UnreadPipe: Sendable {
    private let path: String
    private let descriptor: Int32

    private init() throws {
        path = NSTemporaryDirectory() + "elemental-pipe-\(UUID().uuidString)"
        guard mkfifo(path, 0o600) == 0 else { throw TestSupportError("no pipe: \(String(cString: strerror(errno)))") }
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestSupportError("no pipe: \(String(cString: strerror(errno)))") }
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    var byteCount: Int {
        var count: Int32 = 0
        _ = ioctl(descriptor, UInt(FIONREAD), &count)
        return Int(count)
    }

    func read(_ count: Int = 65536) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = Foundation.read(descriptor, &buffer, count)
        return got > 0 ? Array(buffer[..<got]) : []
    }

    /// Runs `elemental` with its standard output going to a pipe, while `body` runs.
    static func with<Result>(
        _ arguments: [String], andErrors: Bool = false, _ body: (ChildProcess, UnreadPipe) async throws -> Result
    ) async throws -> Result {
        let pipe = try UnreadPipe()
        let script = "exec \"$@\" > '\(pipe.path)'" + (andErrors ? " 2>&1" : "")
        return try await ChildProcess.with("sh", ["-c", script, "sh", try ElementalProcess.path] + arguments) {
            try await body($0, pipe)
        }
    }
}
