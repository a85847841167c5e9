import ElementalMicro

/// A microcontroller's service, with a client on its line that sends arbitrary frames: what is out of range, no choice,
/// read-only or malformed reaches no handler, and what the service tells is whole.
enum DeviceTarget: FuzzTarget {
    static let name = "device"

    private enum Elements {
        static let level = Element<Float>(1, "Level", range: -1...1)
        static let mode = Element<UInt8>(2, "Mode", choices: [0: "off", 7: "on"])
        static let text = Element<String>(3, "Text")
        static let reading = Element<UInt32>(4, "Reading", access: .read)
        static let flag = Element<Bool>(5, "Flag")
        static let all: ElementCatalogue = [level, mode, text, reading, flag]
    }

    static func seeds(_: RecordedFrames) -> [[UInt8]] {
        let hello: [UInt8] = [0xFC, 7, 0, 0, 0, 1, 0x2D, 0, 0, 0, 0, 0]
        let frames: [[UInt8]] = [
            [1, 4, 0, 0, 0, 0, 0, 0, 0x3F], [1, 4, 0, 0, 0, 0, 0, 0, 0x40], [2, 1, 0, 0, 0, 7], [2, 1, 0, 0, 0, 6],
            [3, 2, 0, 0, 0, 65, 66], [3, 2, 0, 0, 0, 0xC3, 0x28], [4, 4, 0, 0, 0, 1, 2, 3, 4], [5, 1, 0, 0, 0, 2],
            [0xFA, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], [3, 0, 0, 0, 1],
        ]
        let all = frames.flatMap { $0 }
        let both: [[UInt8]] = [hello + all, all + hello]
        let each: [[UInt8]] = frames.map { hello + $0 }
        return both + each
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        let service = ElementalService("device", displayName: "Device", elements: Elements.all, seed: 3)
        service.onValue(of: Elements.level) { check((-1...1).contains($0), "a level of \($0)") }
        service.onValue(of: Elements.mode) { check($0 == 0 || $0 == 7, "a mode of \($0)") }
        service.onBytes(of: Elements.text) {
            check(String(validating: $0, as: UTF8.self) != nil, "a text is not UTF-8")
        }
        service.onValue(of: Elements.reading) { _ in check(false, "a reading was set") }
        service.relay(Elements.flag)
        var client = SerialLink(seed: 9)
        var position = 0
        var told: [UInt8] = []
        for now in 0..<UInt32(400 + input.count / 4) {
            if now & 31 == 0 { try? service.send(now, to: Elements.reading) }
            if client.isOpen, position < input.count {
                position += client.write(UnsafeRawBufferPointer(rebasing: input[position...].prefix(40)))
            }
            for _ in 0..<12 {
                if let byte = client.nextByte(at: now) { service.receive(byte, at: now) }
                guard let byte = service.nextByte(at: now) else { continue }
                switch client.receive(byte, at: now) {
                case .opened: told = []
                case .bytes(let bytes): read(&told, bytes)
                case .closed, nil: break
                }
            }
            service.tick(at: now)
            _ = client.tick(at: now)
        }
        check(
            position == input.count || client.isOpen == false || input.count > 4000, "the device takes nothing any more"
        )
    }

    /// Frames whose identifiers and lengths are those that the device tells.
    private static func read(_ told: inout [UInt8], _ bytes: UnsafeRawBufferPointer) {
        told += bytes
        while told.count >= 5 {
            let length = Int(told[1]) | Int(told[2]) << 8 | Int(told[3]) << 16 | Int(told[4]) << 24
            check(length < 400, "a frame of \(length) bytes")
            guard told.count >= 5 + length else { return }
            let id = Int8(bitPattern: told[0])
            if id >= 0 {
                let expected = Elements.all[id: id]?.type.fixedByteCount
                check(expected == nil || expected == length, "element \(id) with \(length) bytes")
            }
            told.removeFirst(5 + length)
        }
    }
}
