import ElementalMicro

// The device's program in Embedded Swift on this machine, with a client on a line that loses bytes: after the start nothing
// may be allocated in the device. memory.c counts.

@_extern(c, "traffic_device") func enterDevice(_ isInside: Bool)
@_extern(c, "traffic_allocations") func allocations() -> Int32
@_extern(c, "traffic_bytes") func bytesAtStart() -> Int32

/// The client: it sets elements, rightly and wrongly, and counts what comes.
struct Client: ~Copyable {
    var link = SerialLink(seed: 99)
    var receivedByteCount = 0
    var sessionCount = 0
    let hello = frame(-4, [1, 0x2D, 0, 0, 0, 0, 0])
    /// The target in and out of its range, the mode, a refused setpoint, texts of which one is too long, data, a ping, an
    /// unknown element, a wrong length, a reset.
    let frames: [[UInt8]] = [
        frame(1, [0, 0, 0xA0, 0x41]), frame(1, [0, 0, 0xA0, 0x42]), frame(5, [2]), frame(11, [13, 0, 0, 0]),
        frame(11, [14, 0, 0, 0]), frame(14, [UInt8](repeating: 65, count: 32)),
        frame(14, [UInt8](repeating: 65, count: 33)),
        frame(15, [UInt8](repeating: 0, count: 20)), frame(-6, [1, 2, 3, 4, 5, 6, 7, 8]), frame(90, [1]), frame(5, []),
        frame(16, [1]), frame(2, [0, 0, 0, 0]), frame(14, [0xFF]),
    ]
    var position = 0

    static func frame(_ id: Int8, _ value: [UInt8]) -> [UInt8] {
        [UInt8(bitPattern: id), UInt8(value.count), 0, 0, 0] + value
    }

    mutating func handle(_ event: SerialLink.Event?) {
        switch event {
        case .opened:
            sessionCount += 1
            hello.withUnsafeBytes { _ = link.write($0) }
        case .bytes(let bytes): receivedByteCount += bytes.count
        case .closed, nil: break
        }
    }

    mutating func sendOne() {
        let frame = frames[position]
        guard link.room >= frame.count else { return }
        frame.withUnsafeBytes { _ = link.write($0) }
        position = position + 1 == frames.count ? 0 : position + 1
    }
}

@_cdecl("main")
public func main() -> Int32 {
    let program = Program(seed: 3)
    var client = Client()
    let atStart = bytesAtStart()
    var random: UInt32 = 1
    func device<Result>(_ body: () -> Result) -> Result {
        enterDevice(true)
        defer { enterDevice(false) }
        return body()
    }
    // Ten minutes, in milliseconds; half of them on a line that loses and garbles one byte in 250 each.
    for now in 0..<600_000 as Range<UInt32> {
        if now & 7 == 0 { client.sendOne() }
        if now % 20_000 == 19_999 { client.link.restart() }
        device {
            if now % 100 == 0 { try? program.second() }
            program.service.tick(at: now)
        }
        client.handle(client.link.tick(at: now))
        for _ in 0..<11 {
            random = random &* 1_664_525 &+ 1_013_904_223
            let fault = now % 20_000 < 10_000 ? UInt8(truncatingIfNeeded: random >> 24) : 2
            if let byte = device({ program.service.nextByte(at: now) }), fault != 0 {
                client.handle(client.link.receive(fault == 1 ? byte ^ 8 : byte, at: now))
            }
            if let byte = client.link.nextByte(at: now), fault != 255 {
                device { program.service.receive(fault == 254 ? byte ^ 64 : byte, at: now) }
            }
        }
    }
    let isRight = allocations() == 0 && client.sessionCount >= 30 && client.receivedByteCount > 500_000
    print(
        "\(isRight ? "PASS" : "FAIL"): a device allocated \(atStart) bytes at its start and \(allocations()) times after it, with "
            + "\(client.receivedByteCount) bytes told in \(client.sessionCount) sessions, \(program.service.rejectedCount) values "
            + "refused and \(program.service.malformedCount) malformed")
    return isRight ? 0 : 1
}
