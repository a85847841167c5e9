import Foundation
import TestSupport

@testable import CommodoreGateway

/// One end of a pseudo-terminal, opened as a program opens a serial line.
final class Terminal: MachineEnd {
    private let descriptor: CInt

    init(descriptor: CInt) { self.descriptor = descriptor }

    init(path: String) throws {
        descriptor = open(path, O_RDWR | O_NOCTTY)
        guard descriptor >= 0 else {
            throw RawSocket.Failure(text: "open \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws {
        let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw RawSocket.Failure(text: "write: \(count) of \(bytes.count)") }
    }

    func read(_ count: Int) async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            // A thread of its own: it waits in the system.
            Thread.detachNewThread { [self] in
                continuation.resume(with: Result { try readBlocking(count) })
            }
        }
    }

    private func readBlocking(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(Patience.wait / .milliseconds(1))) > 0 else {
                throw RawSocket.Failure(text: "nothing came after \(bytes)")
            }
            var buffer = [UInt8](repeating: 0, count: count - bytes.count)
            let got = Foundation.read(descriptor, &buffer, buffer.count)
            guard got > 0 else { throw RawSocket.Failure(text: "the terminal ended after \(bytes)") }
            bytes += buffer[..<got]
        }
        return bytes
    }
}
