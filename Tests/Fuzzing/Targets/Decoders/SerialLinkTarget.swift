import SerialLink

/// An end of a serial line that is given arbitrary bytes, of a line's and of whole packets, at arbitrary times: what it sends
/// stays below what the other end can hold, and with a proper end it has a session again.
enum SerialLinkTarget: FuzzTarget {
    static let name = "line"

    static func seeds(_: RecordedFrames) -> [[UInt8]] { LineRecording.seeds }

    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        var link = SerialLink(
            SerialLink.Configuration(
                packetByteCount: Int(reader.byte()), windowByteCount: 16 * Int(reader.byte()),
                sendByteCount: 8 * Int(reader.byte())),
            seed: UInt32(reader.byte()))
        var now: UInt32 = .max - 2000
        let text = [UInt8](repeating: 65, count: 300)
        while !reader.isAtEnd {
            now &+= UInt32(reader.byte() & 0x3F)
            _ = link.tick(at: now)
            for byte in reader.bytes(Int(reader.byte() & 0x3F)) {
                if case .bytes(let bytes) = link.receive(byte, at: now) { check(bytes.count <= 242, "a long payload") }
            }
            let room = link.room
            let taken = text.withUnsafeBytes { link.write($0) }
            check(taken == min(room, 300), "it takes \(taken) bytes, and had room for \(room)")
            var count = 0
            while count < 1000, link.nextByte(at: now) != nil { count += 1 }
        }
        LineRecording.meet(&link, at: now)
    }
}

/// The other end of a line, which keeps to the protocol.
enum LineRecording {
    /// What an end receives from another, behind five bytes that configure it, in pieces as the targets read them.
    static let seeds: [[UInt8]] = [32, 128].map { size in
        var a = SerialLink(seed: 1)
        var b = SerialLink(seed: 2)
        var input: [UInt8] = [UInt8(size), 16, 32, 1]
        for now in 0..<60 as Range<UInt32> {
            var piece: [UInt8] = []
            while piece.count < 0x3F, let byte = b.nextByte(at: now) {
                piece.append(byte)
                _ = a.receive(byte, at: now)
            }
            while let byte = a.nextByte(at: now) { _ = b.receive(byte, at: now) }
            _ = [1, 1, 0, 0, 0, 7].withUnsafeBytes { b.write($0) }
            input += [1, UInt8(piece.count)] + piece
        }
        return input
    }

    /// Connects the link with a proper end: within a second after the old session's silence they have one that carries bytes.
    static func meet(_ link: inout SerialLink, at start: UInt32) {
        var other = SerialLink(seed: 0xFFFF)
        var isOpen = false
        for step in 0..<700 as Range<UInt32> {
            let now = start &+ 10 &* step
            for _ in 0..<115 {
                if let byte = other.nextByte(at: now) { _ = link.receive(byte, at: now) }
                if let byte = link.nextByte(at: now) {
                    if case .bytes = other.receive(byte, at: now) { return }
                }
            }
            _ = link.tick(at: now)
            _ = other.tick(at: now)
            isOpen = other.isOpen
            if link.isOpen { _ = [1].withUnsafeBytes { link.write($0) } }
        }
        check(false, "no bytes come within 7 s, \(isOpen ? "with" : "without") a session")
    }
}
