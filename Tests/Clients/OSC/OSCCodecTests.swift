import NIOCore
import OSC
import Testing

struct OSCCodecTests {
    private static func bytes(_ hex: String) -> ByteBuffer {
        var buffer = ByteBuffer()
        var digits = hex.filter { $0 != " " }[...]
        while let byte = UInt8(digits.prefix(2), radix: 16) {
            buffer.writeInteger(byte)
            digits = digits.dropFirst(2)
        }
        return buffer
    }

    /// The examples of the OSC 1.0 specification, and messages as python-osc and liblo write them.
    @Test(arguments: [
        (
            "2f6f7363 696c6c61 746f722f 342f6672 65717565 6e637900 2c660000 43dc0000",
            OSCMessage("/oscillator/4/frequency", [.float(440)])
        ),
        (
            "2f666f6f 00000000 2c696973 66660000 000003e8 ffffffff 68656c6c 6f000000 3f9df3b6 40b5b22d",
            OSCMessage("/foo", [.int32(1000), .int32(-1), .string("hello"), .float(1.234), .float(5.678)])
        ),
        (
            "2f610000 2c544649 4e680000 8000000000000000",
            OSCMessage("/a", [.bool(true), .bool(false), .impulse, .null, .int64(.min)])
        ),
        ("2f610000 2c620000 00000003 01020300", OSCMessage("/a", [.blob(ByteBuffer(bytes: [1, 2, 3]))])),
        (
            "2f610000 2c5b695b 665d5d73 00000000 00000001 3f800000 61626364 00000000",
            OSCMessage("/a", [.array([.int32(1), .array([.float(1)])]), .string("abcd")])
        ),
        (
            "2f610000 2c646374 726d5300 3ff0000000000000 00000041 0000000000000001 ff0000ff 00903c7f 73000000",
            OSCMessage(
                "/a",
                [
                    .double(1), .character(65), .timeTag(.immediately), .color(0xFF00_00FF), .midi(0x0090_3C7F),
                    .symbol("s"),
                ])
        ),
        ("2f610000 2c000000", OSCMessage("/a", [])),
    ])
    func messages(_ hex: String, _ message: OSCMessage) throws {
        #expect(try OSCPacket(reading: Self.bytes(hex)) == .message(message))
        var written = ByteBuffer()
        written.writeOSC(message)
        #expect(written == Self.bytes(hex))
    }

    @Test
    func aMessageWithoutTypeTagsHasNoArguments() throws {
        #expect(try OSCPacket(reading: Self.bytes("2f610000")) == .message(OSCMessage("/a", [])))
        #expect(try OSCPacket(reading: Self.bytes("2f610000 00000001")) == .message(OSCMessage("/a", [])))
    }

    @Test
    func bundles() throws {
        let packet = OSCPacket.bundle(
            OSCTimeTag(rawValue: 5 << 32),
            [
                .message(OSCMessage("/a", [.int32(1)])), .bundle(.immediately, []),
                .bundle(.immediately, [.message(OSCMessage("/b", []))]),
            ])
        var bytes = ByteBuffer()
        bytes.writeOSC(packet)
        #expect(try OSCPacket(reading: bytes) == packet)
        // Nothing shorter is a packet.
        for count in 0..<bytes.readableBytes where count != 16 && count != 32 && count != 52 {
            #expect(throws: OSCError.self) { try OSCPacket(reading: bytes.getSlice(at: 0, length: count) ?? bytes) }
        }
    }

    /// The messages of a bundle, the second of which has the type `x`, and one within a bundle an array without its end.
    @Test
    func unknownTypesSpoilOneMessageAlone() throws {
        let bytes = Self.bytes(
            "2362756e 646c6500 0000000000000001 00000008 2f610000 2c540000 0000000c 2f620000 2c780000 00000001"
                + "0000001c 2362756e 646c6500 0000000000000001 00000008 2f630000 2c5b0000 00000008 2f640000 2c460000")
        var unknown = 0
        let packet = try OSCPacket(reading: bytes, unknownMessages: &unknown)
        #expect(
            packet
                == .bundle(
                    .immediately,
                    [
                        .message(OSCMessage("/a", [.bool(true)])), .bundle(.immediately, []),
                        .message(OSCMessage("/d", [.bool(false)])),
                    ]))
        #expect(unknown == 2)
    }

    @Test(arguments: [
        ("", OSCError.length), ("2f61", .length), ("2f616161", .text), ("61000000", .beginning),
        ("2362756e 646c6500", .truncated), ("2362756e 646c6501 0000000000000001", .beginning),
        ("2362756e 646c6500 0000000000000001 00000008 2f610000", .truncated),
        ("2362756e 646c6500 0000000000000001 ffffffff 2f610000", .truncated),
        ("2362756e 646c6500 0000000000000001 00000000", .length),
        ("2f610000 2c690000", .truncated), ("2f610000 2c690000 00000001 00000002", .excess),
        ("2f610000 2c780000", .typeTags), ("2f610000 2c5b0000", .typeTags), ("2f610000 2c5d0000", .typeTags),
        ("2f610000 2c620000 ffffffff 00000000", .truncated), ("2f610000 2c620000 00000005 00000000", .truncated),
        ("2f610000 2c730000 61616161", .text), ("2f610000 2c730000 ff000000", .text), ("2f610000 2c696969", .text),
        ("2f610000 2c5b5b5b 5b5b5d5d 5d5d5d00", .limit),
    ])
    func whatIsNoPacket(_ hex: String, _ error: OSCError) {
        #expect(throws: error) { try OSCPacket(reading: Self.bytes(hex)) }
    }

    @Test
    func boundsAreReached() throws {
        func encoded(_ packet: OSCPacket) -> ByteBuffer {
            var bytes = ByteBuffer()
            bytes.writeOSC(packet)
            return bytes
        }
        func nested(_ depth: Int) -> OSCPacket {
            depth == 0 ? .message(OSCMessage("/a", [])) : .bundle(.immediately, [nested(depth - 1)])
        }
        #expect(throws: Never.self) { try OSCPacket(reading: encoded(nested(OSCLimits.bundleDepth))) }
        #expect(throws: OSCError.limit) { try OSCPacket(reading: encoded(nested(OSCLimits.bundleDepth + 1))) }
        func filled(_ count: Int) -> OSCPacket {
            .message(OSCMessage("/a", [OSCArgument](repeating: .impulse, count: count)))
        }
        #expect(throws: Never.self) { try OSCPacket(reading: encoded(filled(OSCLimits.arguments))) }
        #expect(throws: OSCError.limit) { try OSCPacket(reading: encoded(filled(OSCLimits.arguments + 1))) }
        func many(_ count: Int) -> OSCPacket {
            .bundle(.immediately, [OSCPacket](repeating: .message(OSCMessage("/a", [])), count: count))
        }
        #expect(throws: Never.self) { try OSCPacket(reading: encoded(many(OSCLimits.packets - 1))) }
        #expect(throws: OSCError.limit) { try OSCPacket(reading: encoded(many(OSCLimits.packets))) }
        func named(_ count: Int) -> OSCPacket { .message(OSCMessage("/" + String(repeating: "a", count: count), [])) }
        #expect(throws: Never.self) { try OSCPacket(reading: encoded(named(OSCLimits.address - 1))) }
        #expect(throws: OSCError.limit) { try OSCPacket(reading: encoded(named(OSCLimits.address))) }
    }

    @Test
    func timeTags() {
        let time: UInt64 = 1_764_061_331_123_456_789
        let read = OSCTimeTag(unixNanoseconds: time).unixNanoseconds
        #expect(read >= time && read - time <= 1)
        // 2036-02-07 06:28:16 UTC, when NTP's seconds begin again.
        #expect(OSCTimeTag(unixNanoseconds: 2_085_978_496_000_000_000).rawValue == 0)
        #expect(OSCTimeTag(rawValue: 0).unixNanoseconds == 2_085_978_496_000_000_000)
        #expect(OSCTimeTag(rawValue: 2_208_988_800 << 32).unixNanoseconds == 0)
    }
}
