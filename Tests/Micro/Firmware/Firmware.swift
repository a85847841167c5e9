import ElementalMicro
import Foundation
import TestSupport

/// A board in QEMU, whose UART and monitor are connected to this process, with a client on the line. Its time is real. It is
/// for one thread: a test's body runs in one of its own.
final class Firmware {
    var client = LineClient()
    /// The line to the device, and the one from it.
    var toDevice = FaultyLine()
    var fromDevice = FaultyLine()
    var random: SeededGenerator
    private let uart: FileHandle
    private let monitor: FileHandle
    private let start = ContinuousClock.now
    private var buffer = [UInt8](repeating: 0, count: 4096)

    /// Where Tests/embedded puts what it builds.
    static let folder = Repository.path(".build/embedded")
    static let everyType = folder + "/every-type/firmware.elf"
    static let device = folder + "/board/device.elf"
    static let isBuilt = FileManager.default.fileExists(atPath: everyType)

    struct Failure: Error { let text: String }

    private init(uart: FileHandle, monitor: FileHandle, seed: UInt64) {
        self.uart = uart
        self.monitor = monitor
        random = SeededGenerator(seed: seed)
    }

    /// Runs a board for as long as `body` takes, which runs in a thread of its own.
    static func run(_ path: String, seed: UInt64 = 1, _ body: @escaping @Sendable (Firmware) throws -> Void)
        async throws
    {
        let (uart, uartPort) = try Listener.open()
        let (monitor, monitorPort) = try Listener.open()
        let board = try ChildProcess(
            "qemu-system-arm",
            [
                "-M", "mps2-an386", "-nographic", "-serial", "tcp:127.0.0.1:\(uartPort),nodelay=on",
                "-monitor", "tcp:127.0.0.1:\(monitorPort),nodelay=on", "-kernel", path,
            ])
        let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    returning: Result {
                        try body(
                            Firmware(uart: try uart.accept(), monitor: try monitor.accept(), seed: seed))
                    })
            }
        }
        await board.end()
        try result.get()
    }

    var now: Int { Int((ContinuousClock.now - start) / .milliseconds(1)) }
    private var clock: UInt32 { UInt32(truncatingIfNeeded: now) }

    /// Lets the line work until `isDone`, or for so long.
    @discardableResult
    func run(_ milliseconds: Int, until isDone: () -> Bool = { false }) throws -> Bool {
        let end = now + milliseconds
        while now < end {
            if isDone() { return true }
            try step()
        }
        return isDone()
    }

    /// Lets the line work until `isDone`, which has to come.
    func wait(_ what: String, _ isDone: () -> Bool) throws {
        guard try run(Int(Patience.wait / .milliseconds(1)), until: isDone) else {
            throw Failure(text: "not in time: \(what)")
        }
    }

    private func step() throws {
        var poll = pollfd(fd: uart.fileDescriptor, events: Int16(POLLIN), revents: 0)
        if Foundation.poll(&poll, 1, 1) > 0 {
            let count = recv(uart.fileDescriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw Failure(text: "QEMU has ended") }
            for byte in buffer[..<count] { fromDevice.send(byte, at: now, &random) }
        }
        while let byte = fromDevice.receive(at: now) { client.receive(byte, at: clock) }
        client.tick(at: clock)
        while let byte = client.nextByte(at: clock) { toDevice.send(byte, at: now, &random) }
        var bytes: [UInt8] = []
        while let byte = toDevice.receive(at: now) { bytes.append(byte) }
        try send(bytes, uart)
    }

    private func send(_ bytes: [UInt8], _ handle: FileHandle) throws {
        if !bytes.isEmpty { try handle.write(contentsOf: Data(bytes)) }
    }

    func command(_ text: String) throws { try send(Array("\(text)\n".utf8), monitor) }

    func memory(_ address: Int, _ byteCount: Int) throws -> [UInt8] {
        let path = FileManager.default.temporaryDirectory.appending(path: "firmware-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        // In quotes: a bare path would divide the number before it.
        try command("pmemsave \(address) \(byteCount) \"\(path)\"")
        var bytes: [UInt8] = []
        try wait("QEMU writes its memory") {
            bytes = (FileManager.default.contents(atPath: path)).map(Array.init) ?? []
            return bytes.count == byteCount
        }
        return bytes
    }
}

/// A port of this machine for one connection.
struct Listener {
    private let descriptor: Int32

    static func open() throws -> (Listener, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isOpen else { throw Firmware.Failure(text: "no port for QEMU") }
        return (Listener(descriptor: descriptor), Int(UInt16(bigEndian: address.sin_port)))
    }

    func accept() throws -> FileHandle {
        defer { close(descriptor) }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Foundation.poll(&poll, 1, Int32(Patience.wait / .milliseconds(1))) > 0 else {
            throw Firmware.Failure(text: "QEMU does not start")
        }
        let connected = Foundation.accept(descriptor, nil, nil)
        guard connected >= 0 else { throw Firmware.Failure(text: "QEMU does not connect") }
        var isOn: Int32 = 1
        setsockopt(connected, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        return FileHandle(fileDescriptor: connected, closeOnDealloc: true)
    }
}
