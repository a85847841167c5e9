import NIOCore

/// Decodes packets from a broker's byte stream, however it is split.
///
/// A forbidden packet is rejected as soon as its first bytes show it, before the rest is collected.
struct PacketDecoder {
    /// The maximum length of a PUBLISH after its fixed header, in bytes.
    let limit: Int
    private var buffer = ByteBuffer()

    init(limit: Int) { self.limit = limit }

    var collectedBytes: Int { buffer.readableBytes }

    mutating func append(_ bytes: ByteBuffer) {
        guard buffer.readableBytes > 0 else { return buffer = bytes }
        // Moves the beginning of a packet to the front once, then appends the following bytes to it.
        if buffer.readerIndex > 0 { buffer.discardReadBytes() }
        buffer.writeImmutableBuffer(bytes)
    }

    /// Returns the next packet, or `nil` until more bytes have arrived.
    ///
    /// - Throws: ``MQTTError/Code/protocolViolation`` or ``MQTTError/Code/messageTooLarge``; no packet can be read
    ///   after that.
    mutating func next() throws(MQTTError) -> IncomingPacket? {
        guard let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) else { return nil }
        let kind = try Self.kind(first)
        guard let (length, headerSize) = try remainingLength() else { return nil }
        try check(kind, length, first)
        guard buffer.readableBytes >= headerSize + length else { return nil }
        buffer.moveReaderIndex(forwardBy: headerSize)
        if kind == .publish { return try publish(first, length) }
        return try small(kind, length)
    }

    /// The kind of a packet, if a broker may send it with these flags.
    private static func kind(_ first: UInt8) throws(MQTTError) -> PacketKind {
        guard let kind = PacketKind(rawValue: first >> 4) else {
            throw .violation("a packet of the reserved kind \(first >> 4)")
        }
        switch kind {
        case .connect, .subscribe, .unsubscribe, .pingReq, .disconnect:
            throw .violation("\(kind.name), which only clients send")
        case .pubRec, .pubRel, .pubComp:
            throw .violation("\(kind.name), which belongs to QoS 2, which this client does not use")
        case .publish:
            switch first >> 1 & 3 {
            case 3: throw .violation("a message with QoS 3")
            case 2: throw .violation("a message with QoS 2, to which this client never subscribes")
            case 0 where first & 8 != 0: throw .violation("a message with QoS 0 that is marked as a duplicate")
            default: break
            }
        case .connAck, .pubAck, .subAck, .unsubAck, .pingResp:
            guard first & 0xF == 0 else { throw .violation("\(kind.name) with the reserved flags \(first & 0xF)") }
        }
        return kind
    }

    /// Returns the length after the fixed header and the size of the header; `nil` until the header is complete. A
    /// length with more bytes than it needs is accepted, because MQTT 3.1.1 does not forbid it.
    private func remainingLength() throws(MQTTError) -> (length: Int, headerSize: Int)? {
        var length = 0
        for index in 0..<4 {
            guard let byte = buffer.getInteger(at: buffer.readerIndex + 1 + index, as: UInt8.self) else { return nil }
            length |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return (length, index + 2) }
        }
        throw .violation("a length of more than four bytes")
    }

    private func check(_ kind: PacketKind, _ length: Int, _ first: UInt8) throws(MQTTError) {
        let isRight =
            switch kind {
            case .publish: length >= (first >> 1 & 3 == 0 ? 3 : 5)
            // One code for each filter of a SUBSCRIBE, of which the client sends at most this many.
            case .subAck: (3...2 + OutgoingPacket.maximumFilters).contains(length)
            case .pingResp: length == 0
            default: length == 2
            }
        guard isRight else { throw .violation("\(kind.name) with a length of \(length)") }
        guard length <= limit || kind != .publish else {
            throw MQTTError(
                .messageTooLarge,
                "the broker sent a message of \(length) bytes; the maximum is \(limit) (maximumPacketSize)")
        }
    }

    private mutating func publish(_ first: UInt8, _ length: Int) throws(MQTTError) -> IncomingPacket {
        let end = buffer.readerIndex + length
        let size = Int(buffer.readInteger(as: UInt16.self) ?? 0)
        let qos: MQTTQoS = first & 2 == 0 ? .atMostOnce : .atLeastOnce
        guard size > 0 else { throw .violation("a message without a topic") }
        guard buffer.readerIndex + size + (qos == .atMostOnce ? 0 : 2) <= end else {
            throw .violation("a message whose topic is longer than the packet")
        }
        guard let topic = try? buffer.readUTF8ValidatedString(length: size) else {
            throw .violation("a message whose topic is not UTF-8")
        }
        guard !topic.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }) else {
            throw .violation("a message whose topic contains a wildcard or NUL")
        }
        var identifier: UInt16 = 0
        if qos == .atLeastOnce {
            identifier = buffer.readInteger() ?? 0
            guard identifier != 0 else { throw .violation("a message with the packet identifier 0") }
        }
        let payload = buffer.readSlice(length: end - buffer.readerIndex) ?? ByteBuffer()
        return .publish(
            MQTTMessage(
                topic: topic, payload: payload, qos: qos, isRetained: first & 1 != 0, isDuplicate: first & 8 != 0),
            identifier: identifier)
    }

    /// Decodes every packet but a PUBLISH. Its length is checked and all its bytes have arrived.
    private mutating func small(_ kind: PacketKind, _ length: Int) throws(MQTTError) -> IncomingPacket {
        guard length > 0 else { return .pingResp }
        let word = buffer.readInteger(as: UInt16.self) ?? 0
        if kind == .connAck {
            guard word >> 8 <= 1 else { throw .violation("CONNACK with the reserved flags \(word >> 8)") }
            return .connAck(isSessionPresent: word >> 8 == 1, returnCode: UInt8(word & 0xFF))
        }
        guard word != 0 else { throw .violation("\(kind.name) with the packet identifier 0") }
        switch kind {
        case .subAck:
            let codes = buffer.readBytes(length: length - 2) ?? []
            if let code = codes.first(where: { $0 > 2 && $0 != 0x80 }) {
                throw .violation("SUBACK with the unknown code \(code)")
            }
            return .subAck(word, codes: codes)
        case .unsubAck: return .unsubAck(word)
        default: return .pubAck(word)
        }
    }
}

/// A packet that a broker may send to a client without QoS 2.
enum IncomingPacket: Equatable {
    case connAck(isSessionPresent: Bool, returnCode: UInt8)
    /// The identifier is 0 for QoS 0.
    case publish(MQTTMessage, identifier: UInt16)
    case pubAck(UInt16)
    case subAck(UInt16, codes: [UInt8])
    case unsubAck(UInt16)
    case pingResp

    var kind: PacketKind {
        switch self {
        case .connAck: .connAck
        case .publish: .publish
        case .pubAck: .pubAck
        case .subAck: .subAck
        case .unsubAck: .unsubAck
        case .pingResp: .pingResp
        }
    }
}

/// The kinds of packets, by the upper four bits of their first byte (MQTT 3.1.1, 2.2.1).
enum PacketKind: UInt8 {
    case connect = 1
    case connAck, publish, pubAck, pubRec, pubRel, pubComp, subscribe, subAck, unsubscribe, unsubAck, pingReq, pingResp
    case disconnect

    var name: String { "\(self)".uppercased() }
}
