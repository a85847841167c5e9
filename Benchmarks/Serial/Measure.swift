import Glibc

// Compiled together with the sources of SerialLink by Benchmarks/serial: a client of a board in QEMU, whose UART is on a TCP
// port.

/// The client's end of the line, and how many bytes went over it.
struct Client: ~Copyable {
    var link = SerialLink(seed: UInt32.random(in: 1...UInt32.max))
    let socket: Int32
    var sentByteCount = 0
    var received: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 4096)

    init?(port: UInt16) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let socket = socket
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    static func microseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }

    /// Sends what is due, at most `limit` bytes, and waits at most a millisecond for bytes.
    mutating func step(limit: Int = 4096, wait: Int32 = 1) {
        let now = UInt32(truncatingIfNeeded: Self.microseconds() / 1000)
        _ = link.tick(at: now)
        let count = buffer.withUnsafeMutableBytes {
            link.transmit(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<min(limit, 4096)]), at: now)
        }
        if count > 0 {
            sentByteCount += count
            _ = send(socket, &buffer, count, Int32(MSG_NOSIGNAL))
        }
        var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, wait) > 0 else { return }
        let length = recv(socket, &buffer, buffer.count, 0)
        guard length > 0 else { fail("the board is gone") }
        for byte in buffer[..<length] {
            switch link.receive(byte, at: now) {
            case .opened:
                received = []
                write(-4, [1, 1, 0, 0, 0, 0, 0])
            case .bytes(let bytes): received += bytes
            case .closed, nil: break
            }
        }
    }

    mutating func write(_ id: Int8, _ value: [UInt8]) {
        let frame = [UInt8(bitPattern: id), UInt8(value.count), 0, 0, 0] + value
        guard frame.withUnsafeBytes({ link.write($0) }) == frame.count else { fail("the queue is full") }
    }

    /// The value of the next whole frame with that identifier.
    mutating func next(_ id: Int8) -> [UInt8]? {
        while received.count >= 5 {
            let length = Int(received[1]) | Int(received[2]) << 8
            guard received.count >= 5 + length else { return nil }
            defer { received.removeFirst(5 + length) }
            if received[0] == UInt8(bitPattern: id) { return Array(received[5..<5 + length]) }
        }
        return nil
    }
}

func fail(_ text: String) -> Never {
    fputs("measure: \(text)\n", stderr)
    exit(1)
}

@main
enum Measure {
    static func main() {
        guard CommandLine.arguments.count == 2, let port = UInt16(CommandLine.arguments[1]),
            var client = Client(port: port)
        else { fail("there is no board at the port") }
        let start = Client.microseconds()
        // The readings of the device, which come when it has been greeted.
        while client.next(19) == nil {
            guard Client.microseconds() - start < 10_000_000 else { fail("the board does not answer") }
            client.step()
        }
        roundTrips(&client)
        efficiency(&client)
    }

    /// A value is set, and comes back as the current one: twice the way, with the device's work between. The UART of QEMU
    /// takes no time.
    private static func roundTrips(_ client: inout Client) {
        var times: [Int] = []
        for number in 0..<1000 as Range<UInt32> {
            // Not in step with the device's clock.
            let pause = Client.microseconds() + Int.random(in: 0...3000)
            while Client.microseconds() < pause { client.step(wait: 0) }
            let value = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            let start = Client.microseconds()
            client.write(6, value)
            while true {
                client.step()
                if client.next(6) == value { break }
                if Client.microseconds() - start > 5_000_000 { fail("a value does not come back") }
            }
            times.append(Client.microseconds() - start)
        }
        times.sort()
        func milliseconds(_ part: Double) -> Double { Double(times[Int(part * Double(times.count - 1))]) / 1000 }
        print(
            "value set and back, 1000 times: p50 \(milliseconds(0.5)) ms, p99 \(milliseconds(0.99)) ms, most \(milliseconds(1)) ms"
        )
    }

    /// Frames as fast as 115,200 baud carry them, for three seconds.
    private static func efficiency(_ client: inout Client) {
        let start = Client.microseconds()
        var (written, sent) = (0, 0)
        client.sentByteCount = 0
        while true {
            let passed = Client.microseconds() - start
            guard passed < 3_000_000 else { break }
            while client.link.room >= 69 {
                client.write(17, [UInt8](repeating: 0, count: 64))
                written += 69
            }
            let allowed = passed * 1152 / 100_000 - client.sentByteCount
            client.step(limit: max(0, allowed), wait: 0)
            sent = client.sentByteCount
        }
        let delivered = written - (256 - client.link.room)
        print("\(sent) bytes of the 34,560 of 115,200 baud in 3 s were sent: \(delivered * 1000 / sent) ‰ are frames")
    }
}
