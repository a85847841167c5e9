import NIOCore
import Testing

@testable import MQTT

/// The bytes of packets, from the examples and rules of MQTT 3.1.1.
struct PacketCodecTests {
    private static let limit = 1000

    /// All packets of these bytes, given in pieces of a size.
    private func decode(_ bytes: [UInt8], pieces size: Int = .max, limit: Int = Self.limit) throws(MQTTError)
        -> [IncomingPacket]
    {
        var decoder = PacketDecoder(limit: limit)
        var packets: [IncomingPacket] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            decoder.append(ByteBuffer(bytes: rest.prefix(size)))
            rest = rest.dropFirst(size)
            while let packet = try decoder.next() { packets.append(packet) }
        }
        return packets
    }

    private func message(
        _ topic: String, _ payload: [UInt8], _ qos: MQTTQoS = .atMostOnce, retained: Bool = false, again: Bool = false
    ) -> MQTTMessage {
        MQTTMessage(
            topic: topic, payload: ByteBuffer(bytes: payload), qos: qos, isRetained: retained, isDuplicate: again)
    }

    // MARK: - Incoming

    @Test(arguments: [Int.max, 1, 2, 3, 7])
    func packetsInPieces(_ size: Int) throws {
        let bytes: [[UInt8]] = [
            [0x20, 2, 0, 0], [0x30, 3, 0, 1, 0x61], [0x31, 6, 0, 3], Array("a/b".utf8), [9],
            [0x3B, 8, 0, 3], Array("a/b".utf8), [0x12, 0x34, 7], [0x40, 2, 0xFF, 0xFF],
            [0x90, 5, 0, 1, 0, 1, 0x80], [0xB0, 2, 0, 9], [0xD0, 0],
        ]
        let packets = try decode(Array(bytes.joined()), pieces: size)
        #expect(
            packets == [
                .connAck(isSessionPresent: false, returnCode: 0),
                .publish(message("a", []), identifier: 0),
                .publish(message("a/b", [9], retained: true), identifier: 0),
                .publish(message("a/b", [7], .atLeastOnce, retained: true, again: true), identifier: 0x1234),
                .pubAck(0xFFFF), .subAck(1, codes: [0, 1, 0x80]), .unsubAck(9), .pingResp,
            ])
    }

    /// Lengths of one to three bytes, and one byte more than needed.
    @Test(arguments: [(0, 3), (124, 1), (125, 1), (16_380, 1), (16_381, 1), (100_000, 977)])
    func lengths(_ payload: Int, _ size: Int) throws {
        let content = (0..<payload).map { UInt8(truncatingIfNeeded: $0) }
        var buffer = ByteBuffer()
        buffer.writePublishHeader(
            MQTTTopic(valid: "t"), payloadSize: payload, qos: .atMostOnce, isRetained: false, identifier: 0)
        let bytes = Array(buffer: buffer) + content
        let expected = [IncomingPacket.publish(message("t", content), identifier: 0)]
        #expect(try decode(bytes, pieces: size, limit: payload + 3) == expected)
        #expect(refusal { _ = try decode(bytes, limit: payload + 2) }?.code == .messageTooLarge)
    }

    @Test
    func aLengthInMoreBytesThanNeeded() throws {
        #expect(try decode([0x40, 0x82, 0x80, 0x00, 0, 1]) == [.pubAck(1)])
    }

    static let violations: [([UInt8], String)] = [
        ([0x00], "reserved kind 0"), ([0xF0], "reserved kind 15"),
        ([0x10], "CONNECT, which only clients send"), ([0x82], "SUBSCRIBE, which only clients send"),
        ([0xA2], "UNSUBSCRIBE, which only clients send"), ([0xC0], "PINGREQ, which only clients send"),
        ([0xE0], "DISCONNECT, which only clients send"),
        ([0x50], "PUBREC, which belongs to QoS 2"), ([0x62], "PUBREL, which belongs to QoS 2"),
        ([0x70], "PUBCOMP, which belongs to QoS 2"),
        ([0x34], "a message with QoS 2"), ([0x36], "a message with QoS 3"),
        ([0x38], "QoS 0 that is marked as a duplicate"),
        ([0x21], "CONNACK with the reserved flags 1"), ([0x42], "PUBACK with the reserved flags 2"),
        ([0x98], "SUBACK with the reserved flags 8"), ([0xB4], "UNSUBACK with the reserved flags 4"),
        ([0xDF], "PINGRESP with the reserved flags 15"),
        ([0x30, 0x80, 0x80, 0x80, 0x80], "a length of more than four bytes"),
        ([0x20, 3], "CONNACK with a length of 3"), ([0x20, 0], "CONNACK with a length of 0"),
        ([0x20, 2, 2, 0], "CONNACK with the reserved flags 2"),
        ([0x40, 1], "PUBACK with a length of 1"), ([0x40, 4], "PUBACK with a length of 4"),
        ([0x40, 2, 0, 0], "PUBACK with the packet identifier 0"),
        ([0x90, 2], "SUBACK with a length of 2"), ([0x90, 11], "SUBACK with a length of 11"),
        ([0x90, 3, 0, 0, 0], "SUBACK with the packet identifier 0"),
        ([0x90, 3, 0, 1, 3], "SUBACK with the unknown code 3"), ([0x90, 3, 0, 1, 0x81], "the unknown code 129"),
        ([0xB0, 3], "UNSUBACK with a length of 3"), ([0xB0, 2, 0, 0], "UNSUBACK with the packet identifier 0"),
        ([0xD0, 1], "PINGRESP with a length of 1"),
        ([0x30, 2], "PUBLISH with a length of 2"), ([0x32, 4], "PUBLISH with a length of 4"),
        ([0x30, 3, 0, 0, 1], "a message without a topic"),
        ([0x30, 3, 0, 2, 0x61], "longer than the packet"), ([0x32, 5, 0, 2, 0x61, 0x62, 1], "longer than the packet"),
        ([0x30, 5, 0, 3, 0x61, 0, 0x62], "a wildcard or NUL"), ([0x30, 3, 0, 1, 0x23], "a wildcard or NUL"),
        ([0x30, 3, 0, 1, 0x2B], "a wildcard or NUL"),
        ([0x30, 3, 0, 1, 0xFF], "not UTF-8"), ([0x30, 5, 0, 3, 0xED, 0xA0, 0x80], "not UTF-8"),
        ([0x30, 4, 0, 2, 0xC0, 0xAF], "not UTF-8"),
        ([0x32, 5, 0, 1, 0x61, 0, 0], "a message with the packet identifier 0"),
    ]

    /// Each is refused with these bytes, and not a byte earlier, so that nothing beyond them is waited for.
    @Test(arguments: violations)
    func violation(_ bytes: [UInt8], _ words: String) throws {
        #expect(try decode(bytes.dropLast()) == [], "one byte less is the beginning of something")
        let error = refusal { _ = try decode(bytes, pieces: 1) }
        #expect(error?.code == .protocolViolation)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test
    func aGiantLengthIsRefusedBeforeItIsCollected() throws {
        var decoder = PacketDecoder(limit: 1 << 20)
        decoder.append(ByteBuffer(bytes: [0x30, 0xFF, 0xFF, 0xFF]))
        #expect(try decoder.next() == nil)
        decoder.append(ByteBuffer(bytes: [0x7F]))
        let error = refusal { _ = try decoder.next() }
        #expect(error?.code == .messageTooLarge)
        #expect(error?.message.contains("268435455") == true)
        #expect(decoder.collectedBytes == 5)
    }

    /// What was decoded does not stay in the memory of what follows.
    @Test
    func memoryOfManyPackets() throws {
        var decoder = PacketDecoder(limit: Self.limit)
        let packet: [UInt8] = [0x30, 3, 0, 1, 0x61]
        let stream = Array(Array(repeating: packet, count: 10_000).joined())
        var (count, mostCollected) = (0, 0)
        // In pieces that never end with a packet.
        for start in stride(from: 0, to: stream.count, by: 7) {
            decoder.append(ByteBuffer(bytes: stream[start..<min(start + 7, stream.count)]))
            while try decoder.next() != nil { count += 1 }
            mostCollected = max(mostCollected, decoder.collectedBytes)
        }
        #expect(mostCollected < packet.count)
        #expect(count == 10_000)
    }

    // MARK: - Outgoing

    @Test
    func connect() throws {
        var buffer = ByteBuffer()
        OutgoingPacket.Connect(clientID: "abc", keepAliveSeconds: 30).write(to: &buffer)
        let expected: [[UInt8]] = [[0x10, 15, 0, 4], Array("MQTT".utf8), [4, 2, 0, 30, 0, 3], Array("abc".utf8)]
        #expect(Array(buffer: buffer) == Array(expected.joined()))
        let will = MQTTLastWill(topic: MQTTTopic(valid: "w/t"), text: "bye", qos: .atLeastOnce, isRetained: true)
        buffer.clear()
        OutgoingPacket.Connect(
            clientID: "c", keepAliveSeconds: 0x1234, lastWill: will, userName: "ü", password: "p"
        ).write(to: &buffer)
        let parts: [[UInt8]] = [
            [0, 4], Array("MQTT".utf8), [4, 0b1110_1110, 0x12, 0x34, 0, 1], Array("c".utf8),
            [0, 3], Array("w/t".utf8), [0, 3], Array("bye".utf8), [0, 2], Array("ü".utf8), [0, 1], Array("p".utf8),
        ]
        let body = Array(parts.joined())
        #expect(Array(buffer: buffer) == [0x10, UInt8(body.count)] + body)
        buffer.clear()
        let plain = MQTTLastWill(topic: MQTTTopic(valid: "w"), text: "", qos: .atMostOnce, isRetained: false)
        OutgoingPacket.Connect(clientID: "c", keepAliveSeconds: 1, lastWill: plain, userName: "u").write(to: &buffer)
        #expect(Array(buffer: buffer)[9] == 0b1000_0110)
    }

    @Test
    func publish() {
        let topic = MQTTTopic(valid: "a/b")
        func header(_ qos: MQTTQoS, _ isRetained: Bool, _ size: Int) -> [UInt8] {
            var buffer = ByteBuffer()
            buffer.writePublishHeader(
                topic, payloadSize: size, qos: qos, isRetained: isRetained, identifier: 0x0102)
            return Array(buffer: buffer)
        }
        let name = [0, 3] + Array("a/b".utf8)
        #expect(header(.atMostOnce, false, 1) == [0x30, 6] + name)
        #expect(header(.atMostOnce, true, 122) == [0x31, 127] + name)
        #expect(header(.atLeastOnce, false, 121) == [0x32, 0x80, 1] + name + [1, 2])
        #expect(header(.atLeastOnce, true, 16_376) == [0x33, 0xFF, 0x7F] + name + [1, 2])
        #expect(header(.atLeastOnce, true, 268_435_448) == [0x33, 0xFF, 0xFF, 0xFF, 0x7F] + name + [1, 2])
    }

    @Test
    func theOthers() {
        func bytes(_ write: (inout ByteBuffer) -> Void) -> [UInt8] {
            var buffer = ByteBuffer()
            write(&buffer)
            return Array(buffer: buffer)
        }
        let filters: [Subscription] = [("a/+", .atLeastOnce), ("#", .atMostOnce)]
        let subscribing: [UInt8] = [0x82, 12, 0x0A, 0x0B, 0, 3] + Array("a/+".utf8) + [1, 0, 1, 0x23, 0]
        #expect(bytes { $0.writeSubscribe(filters, identifier: 0x0A0B) } == subscribing)
        let unsubscribing: [UInt8] = [0xA2, 10, 0, 1, 0, 3] + Array("a/+".utf8) + [0, 1, 0x23]
        #expect(bytes { $0.writeUnsubscribe(["a/+", "#"], identifier: 1) } == unsubscribing)
        #expect(bytes { $0.writePubAck(0xFEDC) } == [0x40, 2, 0xFE, 0xDC])
        #expect(bytes { $0.writePingReq() } == [0xC0, 0])
        #expect(bytes { $0.writeDisconnect() } == [0xE0, 0])
    }
}
