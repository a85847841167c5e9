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
        return (packets + numbers + times).map(bytes) + [bundleOfUnknown]
    }

    private static func bytes(of packet: OSCPacket) -> [UInt8] {
        var bytes = ByteBuffer()
        bytes.writeOSC(packet)
        return Array(bytes.readableBytesView)
    }

    /// Numbers that are none of most elements.
    private static let numbers = [
        OSCArgument.double(1e300), .double(.nan), .double(-.infinity), .float(.nan), .float(.infinity), .int64(.min),
        .timeTag(OSCTimeTag(rawValue: .max)),
    ].map { OSCPacket.message(OSCMessage("/S/Cut", [$0])) }

    /// Bundles whose time is 0, the end of time, or counted from a boot, 1970 or 2001.
    private static let times = [0, UInt64.max, 100 << 32, 1_795_828_036 << 32, 817_520_836 << 32].map {
        OSCPacket.bundle(OSCTimeTag(rawValue: $0), [.message(OSCMessage("/S/Cut", [.float(1)]))])
    }

    /// A message whose type OSC does not know between two others.
    private static let bundleOfUnknown: [UInt8] = {
        let known = bytes(of: .message(OSCMessage("/S/Cut", [.float(1)])))
        let unknown = Array("/S/Cut\0\0,Z\0\0".utf8)
        let parts = [known, unknown, known].flatMap { (part: [UInt8]) -> [UInt8] in
            [0, 0, 0, UInt8(part.count)] + part
        }
        return bytes(of: .bundle(.immediately, [])) + parts
    }()

    static func run(_ input: UnsafeRawBufferPointer) {
        var unknownMessages = 0
        guard let packet = try? OSCPacket(reading: ByteBuffer(bytes: input), unknownMessages: &unknownMessages) else {
            return
        }
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
