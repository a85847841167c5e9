import Foundation
import Support
import TestSupport

/// Devices of the older kind, without a hello, that send values as fast as the service accepts them, each on a thread.
final class Flood: Sendable {
    private let count = Locked(0)
    private let port: Int
    /// Kept open as long as the flood exists, so that everything sent arrives.
    private let sockets: [RawSocket]

    /// Each device sends values up to a limit, if there is one; `value` makes the bytes of the one with that number.
    init(
        to port: Int, devices: Int, element: UInt8 = 1, limit: Int? = nil,
        value: @escaping @Sendable (Int) -> [UInt8] = { withUnsafeBytes(of: Int32($0).littleEndian, Array.init) }
    ) throws {
        self.port = port
        sockets = try (0..<devices).map { _ in try RawSocket.connect(to: port) }
        for (device, socket) in sockets.enumerated() {
            let name = Array("flood\(device)".utf8)
            try socket.write([0xFE, UInt8(name.count), 0, 0, 0] + name)
            Thread.detachNewThread { [count] in
                var sent = 0
                while sent < limit ?? .max {
                    let end = min(sent + 100, limit ?? .max)
                    var batch: [UInt8] = []
                    for number in sent..<end {
                        let bytes = value(number)
                        batch += [element] + withUnsafeBytes(of: UInt32(bytes.count).littleEndian, Array.init) + bytes
                    }
                    guard (try? socket.write(batch)) != nil else { break }
                    count.withLock { [sent] in $0 += end - sent }
                    sent = end
                }
            }
        }
    }

    /// How many values the system has accepted.
    var sent: Int { count.withLock { $0 } }

    /// Waits until the service has stopped reading from all of the devices.
    func waitUntilStuck(_ service: ChildProcess) async throws {
        let figures = ProcessFigures(of: service)
        var polls = 0
        try await eventually("the service stops reading", every: .milliseconds(10)) {
            polls = try figures.leavesUnread(sockets.count, .server, port: port) ? polls + 1 : 0
            return polls == 3
        }
    }
}
