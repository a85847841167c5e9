import NIOCore

@testable import MQTT

/// An MQTT client whose broker is hostile: the decoder and the session, and in between what the client itself does.
///
/// What is decoded must not depend on how the network splits it, and no message may arrive that MQTT does not allow. No
/// identifier is given to two messages, and none is acknowledged that was not given.
enum MQTTTarget: FuzzTarget {
    static let name = "mqtt"

    private static let limit = 2048
    private static let inFlight = 5
    private static let start = NIODeadline.uptimeNanoseconds(1 << 40)

    static func seeds(_ frames: RecordedFrames) -> [[UInt8]] {
        let accepted: [UInt8] = [0x20, 2, 0, 0]
        let message: [UInt8] = [0x30, 5, 0, 3, 0x61, 0x2F, 0x62]
        let packets: [[UInt8]] = [
            message, [0x3B, 8, 0, 3, 0x61, 0x2F, 0x62, 0, 7, 1], [0x40, 2, 0, 1], [0x90, 4, 0, 2, 1, 0x80],
            [0x90, 3, 0, 2, 0], [0xB0, 2, 0, 3], [0xD0, 0], [0x31, 0x85, 0x80, 0, 0, 3, 0xC3, 0xBC, 0x62],
            [0x32, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1, 0x61], [0x34, 5, 0, 1, 0x61, 0, 1], [0x62, 2, 0, 1],
            [0x30, 0x83, 16, 0, 1, 0x61] + [UInt8](repeating: 1, count: 2048),
        ]
        let all = Array(packets.prefix(8).joined())
        let streams: [[UInt8]] = [accepted + all, accepted + all + all, [0x20, 2, 0, 5], [0x20, 2, 1, 0]]
        let inputs = streams + packets.map { accepted + $0 } + packets
        let heads: [[UInt8]] = [[0, 0], [7, 2], [255, 8]]
        return heads.flatMap { head in inputs.map { head + $0 } }
    }

    /// The first byte says how long the pieces are, the second how often the client publishes in between.
    static func run(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        let size = Int(reader.byte()) + 1
        let rhythm = Int(reader.byte() % 16)
        let bytes = reader.bytes()
        let packets = decode(bytes, size: size)
        check(packets == decode(bytes, size: max(bytes.count, 1)), "the packets in pieces of \(size)")
        play(packets, rhythm)
    }

    /// - Returns: the packets, and `nil` at the end if there was an error.
    private static func decode(_ bytes: [UInt8], size: Int) -> [IncomingPacket?] {
        var decoder = PacketDecoder(limit: limit)
        var packets: [IncomingPacket?] = []
        for piece in bytes.pieces(of: size) {
            decoder.append(ByteBuffer(bytes: piece))
            do throws(MQTTError) {
                while let packet = try decoder.next() {
                    examine(packet)
                    packets.append(packet)
                }
            } catch {
                check(error.code == .protocolViolation || error.code == .messageTooLarge, "another error: \(error)")
                return packets + [nil]
            }
            check(decoder.collectedBytes < limit + 5, "more is collected than one message")
        }
        return packets
    }

    private static func examine(_ packet: IncomingPacket) {
        switch packet {
        case .publish(let message, let identifier):
            let topic = message.topic.utf8
            check(!topic.isEmpty && !topic.contains { $0 == 0 || $0 == 0x23 || $0 == 0x2B }, "a topic that is none")
            check((identifier != 0) == (message.qos == .atLeastOnce), "an identifier and no QoS, or none")
            check(!message.isDuplicate || message.qos == .atLeastOnce, "a duplicate with QoS 0")
            check(message.payload.readableBytes + topic.count <= limit, "a message that is too large")
        case .pubAck(let identifier), .unsubAck(let identifier): check(identifier != 0, "the identifier 0")
        case .subAck(let identifier, let codes):
            check(identifier != 0 && !codes.isEmpty && codes.allSatisfy { $0 <= 2 || $0 == 0x80 }, "a wrong SUBACK")
        case .connAck, .pingResp: break
        }
    }

    /// A session that receives these packets, and publishes and subscribes in between.
    private static func play(_ packets: [IncomingPacket?], _ rhythm: Int) {
        var machine = SessionMachine(keepAlive: .seconds(10), maximumInFlight: inFlight, now: start)
        var now = start
        var published: Set<UInt16> = []
        var subscribed: [UInt16: Int] = [:]
        var queued = 0
        for (index, packet) in packets.enumerated() {
            guard let packet else { return }
            now = now + .seconds(1)
            do throws(MQTTError) {
                let isConnected = machine.phase == .connected
                switch try machine.receive(packet, at: now) {
                case .none: check(!isConnected || packet == .pingResp, "a packet that counts for nothing")
                case .unexpected: check(isConnected, "an acknowledgement before CONNACK")
                case .connected: check(!isConnected, "connected twice")
                case .deliver: check(isConnected, "a message before CONNACK")
                case .acknowledged(let identifier):
                    check(published.remove(identifier) != nil, "an acknowledgement of nothing")
                case .answered(let identifier, let codes):
                    check(subscribed.removeValue(forKey: identifier) == codes.count, "another number of codes")
                }
            } catch {
                return check(error.code != .notConnected, "another error: \(error)")
            }
            guard machine.phase == .connected else { continue }
            machine.keepAlive.received(at: now)
            if rhythm > 0, index % rhythm == 0 {
                if let identifier = machine.publish() {
                    check(published.insert(identifier).inserted, "an identifier given twice")
                } else {
                    check(published.count == inFlight, "no room, and nothing in flight")
                }
                for codes in [1 + index % 3, 0] {
                    guard let identifier = machine.request(codes: codes) else { continue }
                    check(subscribed.updateValue(codes, forKey: identifier) == nil, "an identifier given twice")
                }
                queued += 10
                machine.keepAlive.sent(at: now, inFlight: machine.inFlight)
            }
            check(machine.inFlight == published.count, "another number in flight")
            let used = published.count + subscribed.count
            check(published.union(subscribed.keys).count == used, "an identifier of two kinds")
            switch machine.keepAlive.step(at: now, queued: queued, written: queued) {
            case .wait(let time): check(time > now, "it waits for the past")
            case .ping:
                queued += 2
                machine.keepAlive.sent(at: now, inFlight: machine.inFlight)
                machine.keepAlive.pinged(at: now, queued: queued, written: queued)
            case .timedOut: check(false, "a dead broker that has just sent something")
            case .unacknowledged: return check(!published.isEmpty, "nothing waits for an acknowledgement")
            }
        }
    }
}
