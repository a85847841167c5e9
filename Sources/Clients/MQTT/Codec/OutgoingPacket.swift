import NIOCore

/// Writes the packets that a client sends (MQTT 3.1.1, 3.1 to 3.14).
enum OutgoingPacket {
    /// The maximum length of a packet after its fixed header, in bytes: the length has four bytes of seven bits.
    static let maximumLength = 268_435_455
    /// The maximum number of filters in one SUBSCRIBE or UNSUBSCRIBE. Some brokers refuse more (AWS IoT Core allows 8).
    static let maximumFilters = 8

    /// The fields of a CONNECT besides the version and the flag for a clean session.
    struct Connect {
        var clientID: String
        /// In whole seconds. The broker gives up after one and a half times as long without a packet.
        var keepAliveSeconds: UInt16
        var lastWill: MQTTLastWill?
        var userName: String?
        var password: String?

        /// Writes the packet. The caller has checked the lengths of the fields.
        func write(to buffer: inout ByteBuffer) {
            var flags: UInt8 = 2
            var payload = ByteBuffer()
            payload.writeField(clientID.utf8)
            if let lastWill {
                flags |= 4 | lastWill.qos.rawValue << 3 | (lastWill.isRetained ? 0x20 : 0)
                payload.writeBytes(lastWill.topic.encoded)
                payload.writeInteger(UInt16(lastWill.payload.readableBytes))
                payload.writeImmutableBuffer(lastWill.payload)
            }
            if let userName {
                flags |= 0x80
                payload.writeField(userName.utf8)
            }
            if let password {
                flags |= 0x40
                payload.writeField(password.utf8)
            }
            buffer.writeFixedHeader(0x10, 10 + payload.readableBytes)
            buffer.writeField("MQTT".utf8)
            buffer.writeMultipleIntegers(UInt8(4), flags, keepAliveSeconds)
            buffer.writeBuffer(&payload)
        }
    }
}

extension ByteBuffer {
    /// Writes a PUBLISH up to its payload, which the caller writes next. The identifier is ignored for QoS 0.
    mutating func writePublishHeader(
        _ topic: MQTTTopic, payloadSize: Int, qos: MQTTQoS, isRetained: Bool, identifier: UInt16
    ) {
        let length = topic.encoded.count + (qos == .atMostOnce ? 0 : 2) + payloadSize
        writeFixedHeader(0x30 | qos.rawValue << 1 | (isRetained ? 1 : 0), length)
        writeBytes(topic.encoded)
        if qos == .atLeastOnce { writeInteger(identifier) }
    }

    mutating func writePubAck(_ identifier: UInt16) { writeInteger(0x4002_0000 | UInt32(identifier)) }

    /// - Parameter filters: at most ``OutgoingPacket/maximumFilters``, which the caller has checked.
    mutating func writeSubscribe(_ filters: some Collection<Subscription>, identifier: UInt16) {
        writeFixedHeader(0x82, filters.reduce(2) { $0 + 2 + $1.filter.utf8.count + 1 })
        writeInteger(identifier)
        for subscription in filters {
            writeField(subscription.filter.utf8)
            writeInteger(subscription.qos.rawValue)
        }
    }

    mutating func writeUnsubscribe(_ filters: some Collection<String>, identifier: UInt16) {
        writeFixedHeader(0xA2, filters.reduce(2) { $0 + 2 + $1.utf8.count })
        writeInteger(identifier)
        for filter in filters { writeField(filter.utf8) }
    }

    mutating func writePingReq() { writeInteger(0xC000, as: UInt16.self) }
    mutating func writeDisconnect() { writeInteger(0xE000, as: UInt16.self) }

    fileprivate mutating func writeFixedHeader(_ first: UInt8, _ length: Int) {
        writeInteger(first)
        var rest = length
        repeat {
            let digit = UInt8(rest & 0x7F)
            rest >>= 7
            writeInteger(rest > 0 ? digit | 0x80 : digit)
        } while rest > 0
    }

    /// Writes the length of a field in two bytes, then the field of at most 65,535 bytes.
    fileprivate mutating func writeField(_ bytes: String.UTF8View) {
        writeInteger(UInt16(bytes.count))
        writeBytes(bytes)
    }
}

typealias Subscription = (filter: String, qos: MQTTQoS)
