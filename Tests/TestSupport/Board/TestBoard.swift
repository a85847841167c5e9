public import ElementalMicro
import Foundation
import SerialLink
import Support

/// A board: `ElementalMicro` in a thread of its own, on a descriptor in the place of a UART.
public final class TestBoard: Sendable {
    /// What it is. Each start makes it anew, as a reset does.
    public struct Firmware: Sendable {
        let make: @Sendable (_ seed: UInt32) -> ElementalService

        public init(_ make: @escaping @Sendable (_ seed: UInt32) -> ElementalService) { self.make = make }
    }

    private struct State {
        var work: [@Sendable (ElementalService) -> Void] = []
        var isReset = false
        var isStopped = false
    }

    private let descriptor: CInt
    private let firmware: Firmware
    private let state = Locked(State())
    private let stopped = Latch()
    private let faults: FaultyLine.Faults

    /// - Parameter descriptor: an open one, which it closes.
    public init(_ firmware: Firmware, on descriptor: CInt, faults: FaultyLine.Faults = .none) {
        self.firmware = firmware
        self.descriptor = descriptor
        self.faults = faults
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        Thread.detachNewThread { [self] in run() }
    }

    public static func dial(_ port: Int, _ firmware: Firmware, faults: FaultyLine.Faults = .none) throws -> TestBoard {
        let socket = try RawSocket.connect(to: port)
        return TestBoard(firmware, on: withExtendedLifetime(socket) { dup($0.descriptor) }, faults: faults)
    }

    /// Runs `body` between two bytes.
    public func perform(_ body: @escaping @Sendable (ElementalService) -> Void) {
        state.withLock { $0.work.append(body) }
    }

    public func reset() { state.withLock { $0.isReset = true } }

    public func stop() async {
        state.withLock { $0.isStopped = true }
        await stopped.wait()
    }

    private func run() {
        var random = SeededGenerator(seed: 42)
        var (toBoard, fromBoard) = (FaultyLine(), FaultyLine())
        (toBoard.faults, fromBoard.faults) = (faults, faults)
        var seed: UInt32 = 1
        var service = firmware.make(seed)
        var buffer = [UInt8](repeating: 0, count: 4096)
        var unsent: [UInt8] = []
        while true {
            let (work, isReset, isStopped) = state.withLock { state in
                defer {
                    state.work = []
                    state.isReset = false
                }
                return (state.work, state.isReset, state.isStopped)
            }
            if isStopped { break }
            if isReset {
                seed += 1
                service = firmware.make(seed)
                unsent = []
            }
            for body in work { body(service) }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN | (unsent.isEmpty ? 0 : POLLOUT)), revents: 0)
            _ = poll(&entry, 1, 1)
            let now = Self.milliseconds
            let count = read(descriptor, &buffer, buffer.count)
            for byte in buffer.prefix(max(count, 0)) {
                toBoard.send(byte, at: 0, &random)
                while let byte = toBoard.receive(at: 0) { service.receive(byte, at: now) }
            }
            service.tick(at: now)
            if unsent.isEmpty {
                let count = buffer.withUnsafeMutableBytes { service.transmit(into: $0, at: now) }
                for byte in buffer[..<count] {
                    fromBoard.send(byte, at: 0, &random)
                    while let byte = fromBoard.receive(at: 0) { unsent.append(byte) }
                }
            }
            let sent = unsent.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if sent > 0 { unsent.removeFirst(sent) }
        }
        close(descriptor)
        stopped.open()
    }

    private static var milliseconds: UInt32 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt32(truncatingIfNeeded: time.tv_sec * 1000 + time.tv_nsec / 1_000_000)
    }
}
