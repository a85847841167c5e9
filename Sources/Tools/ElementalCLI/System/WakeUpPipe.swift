import Support

/// Lets another thread interrupt a wait for a descriptor.
final class WakeUpPipe: Sendable {
    /// How a wait ended.
    enum Outcome: Sendable {
        /// The descriptor has bytes, an end of file or an error to read.
        case ready
        /// ``wake()`` was called.
        case woken
        case timedOut
    }

    private let ends: (read: Int32, write: Int32)

    init() throws {
        ends = try Descriptor.pipe()
    }

    deinit {
        Descriptor.close(ends.read)
        Descriptor.close(ends.write)
    }

    /// Interrupts the current wait, and all later ones.
    func wake() {
        var byte: UInt8 = 0
        _ = withUnsafeBytes(of: &byte) { Descriptor.write(ends.write, $0) }
    }

    /// Blocks until the descriptor can be read, ``wake()`` is called or the time is up.
    func wait(for descriptor: Int32, timeout: Duration) -> Outcome {
        let deadline = ContinuousClock.now + timeout
        while true {
            var entries = [
                pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let left = max(.zero, ContinuousClock.now.duration(to: deadline)) / .milliseconds(1)
            let count = poll(&entries, 2, Int32(min(left.rounded(.up), 1_000_000_000)))
            if count > 0 { return entries[0].revents != 0 ? .woken : .ready }
            if count == 0, ContinuousClock.now >= deadline { return .timedOut }
        }
    }
}
