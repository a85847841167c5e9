import NIOCore
import OSC

/// The decoder of OSC packets, and patterns: what it reads can be written and is read again as the same.
enum OSCTarget: FuzzTarget {
    static let name = "osc"

    static func seeds(_: RecordedFrames) -> [[UInt8]] {
        let all = OSCMessage(
            "/Synth/Cut*[a-f]{1,2}",
            [
                .int32(1), .float(0.5), .string("text"), .symbol("s"), .blob(ByteBuffer(bytes: [1, 2, 3])), .bool(true),
                .bool(false), .null, .impulse, .int64(-1), .timeTag(.immediately), .double(1), .character(65),
                .color(1), .midi(2), .array([.int32(1), .array([.float(2)])]),
            ])
        let packets: [OSCPacket] = [
            .message(all), .bundle(.immediately, [.message(all), .bundle(OSCTimeTag(rawValue: 1 << 40), [])]),
        ]
        return packets.map { packet in
            var bytes = ByteBuffer()
            bytes.writeOSC(packet)
            return Array(bytes.readableBytesView)
        }
    }

    static func run(_ input: UnsafeRawBufferPointer) {
        guard let packet = try? OSCPacket(reading: ByteBuffer(bytes: input)) else { return }
        var written = ByteBuffer()
        written.writeOSC(packet)
        var again = ByteBuffer()
        // Compared as bytes: a NaN is not equal to itself.
        if let read = try? OSCPacket(reading: written) { again.writeOSC(read) }
        check(written == again, "a packet is not read as it was written")
        matchPatterns(of: packet)
    }

    private static func matchPatterns(of packet: OSCPacket) {
        switch packet {
        case .message(let message):
            for level in OSCAddressPattern(message.address)?.levels ?? [] { _ = level.matches("Cutoff frequency") }
        case .bundle(_, let packets): for packet in packets { matchPatterns(of: packet) }
        }
    }
}
