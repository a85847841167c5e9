import Foundation
import NIOConcurrencyHelpers
import TestSupport

/// Devices of an older kind that send values as fast as the service takes them, each on a thread of its own.
final class Flood: Sendable {
    private let count = NIOLockedValueBox(0)
    /// Open as long as the flood is there: what it has sent has to arrive.
    private let sockets: [RawSocket]

    /// - Parameters:
    ///   - limit: values that each device sends; `nil` for as many as go.
    ///   - value: the bytes of the value of that number.
    init(
        to port: Int, devices: Int, element: UInt8 = 1, limit: Int? = nil,
        value: @escaping @Sendable (Int) -> [UInt8] = { withUnsafeBytes(of: Int32($0).littleEndian, Array.init) }
    ) throws {
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
                    count.withLockedValue { [sent] in $0 += end - sent }
                    sent = end
                }
            }
        }
    }

    /// Values that the system has taken.
    var sent: Int { count.withLockedValue { $0 } }

    /// Waits until nothing moves any more: all there is to fill is full.
    func waitUntilStuck() async throws {
        var seen = (count: -1, since: SuspendingClock.now)
        try await eventually("the devices are stuck") {
            let now = sent
            if now != seen.count { seen = (now, .now) }
            return now > 0 && SuspendingClock.now - seen.since > .milliseconds(500)
        }
    }
}
